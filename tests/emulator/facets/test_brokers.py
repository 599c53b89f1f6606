"""kafka.brokers: what a test does to one broker of several, and what clients see of it."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import pytest
from odradek.emulator import Emulator
from odradek.wire import Error, Refused
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.describe_cluster import DescribeClusterRequest
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.produce import ProduceRequest

from tests.requests.produce import batch, produce, produce_request
from tests.support.connection import Connection

WAIT_S = 30.0


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(brokers=3, racks=["a", "b", "c"]) as kafka:
        yield kafka


def at(kafka: Emulator, node_id: int) -> Connection:
    return Connection(kafka.brokers[node_id].address)


def listed(kafka: Emulator, node_id: int) -> list[tuple[int, str, str | None]]:
    """The brokers that one of them lists: id, address, rack."""
    with at(kafka, node_id) as client:
        found = client.ask(MetadataRequest(topics=[]), 9).brokers
    return [(each.node_id, f"{each.host}:{each.port}", each.rack) for each in found]


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def two_free_ports() -> int:
    """The first of two ports that are free and follow each other."""
    while True:
        with socket.socket() as one, socket.socket() as other:
            one.bind(("127.0.0.1", 0))
            first: int = one.getsockname()[1]
            with suppress(OSError, OverflowError):
                other.bind(("127.0.0.1", first + 1))
                return first


def test_each_broker_has_an_address_and_lists_all(kafka: Emulator) -> None:
    there = [(each.id, each.address, each.rack) for each in kafka.brokers]
    assert [(node_id, rack) for node_id, _, rack in there] == [(1, "a"), (2, "b"), (3, "c")]
    assert kafka.bootstrap_servers == ",".join(address for _, address, _ in there)
    for node_id in (1, 2, 3):
        assert listed(kafka, node_id) == there


def test_one_broker_is_as_before() -> None:
    with Emulator() as kafka:
        assert "," not in kafka.bootstrap_servers
        assert [(each.id, each.rack, each.state) for each in kafka.brokers] == [(1, None, "up")]
        with pytest.raises(RuntimeError, match="broker 1 is the last one that runs"):
            kafka.brokers[1].stop()


def test_an_older_kafka_has_several_brokers() -> None:
    with Emulator(brokers=3, version="3.9") as kafka:
        assert kafka.create_topic("orders", replicas=3)[0].isr == [1, 2, 3]
        kafka.brokers[1].restart()
        assert kafka.topic("orders")[0].leader == 2


def test_ports_follow_each_other() -> None:
    first = two_free_ports()
    with Emulator(brokers=2, port=first, advertised="kafka.test:9000") as kafka:
        assert kafka.bootstrap_servers == "kafka.test:9000,kafka.test:9001"
        with Connection(f"127.0.0.1:{first + 1}") as client:
            found = client.ask(MetadataRequest(topics=[]), 9).brokers
        assert [(each.node_id, each.port) for each in found] == [(1, 9000), (2, 9001)]


def free_ports(count: int) -> int:
    """The first of so many ports that are free and follow each other."""
    while True:
        first = two_free_ports()
        with ExitStack() as bound, suppress(OSError, OverflowError):
            for port in range(first, first + count):
                bound.enter_context(socket.socket()).bind(("127.0.0.1", port))
            return first


def test_listeners_whose_ports_are_next_to_each_other_do_not_meet() -> None:
    first = free_ports(6)
    there = f"A://127.0.0.1:{first},B://127.0.0.1:{first + 1}"
    config = {"listeners": there, "listener.security.protocol.map": "A:PLAINTEXT,B:PLAINTEXT"}
    with Emulator(config, brokers=3):
        for port in range(first, first + 6):
            with Connection(f"127.0.0.1:{port}") as client:
                found = client.ask(MetadataRequest(topics=[]), 9).brokers
            start = first + (port - first) % 2
            assert [each.port for each in found] == [start, start + 2, start + 4]
        taken = f"cannot listen on 127.0.0.1:{first}: Address already in use"
        with pytest.raises(OSError, match=taken):
            Emulator(config).start()


def test_two_brokers_at_one_address_are_named() -> None:
    place = f"127.0.0.1:{two_free_ports()}"
    said = f"cannot listen on {place}: Address already in use, by listener PLAINTEXT of broker 1"
    with pytest.raises(OSError, match=said):
        Emulator(brokers=2, listen=[place, place]).start()


def test_each_broker_listens_where_it_is_told() -> None:
    first = two_free_ports()
    places = [f"127.0.0.1:{first + 1}", f"127.0.0.1:{first}"]
    with Emulator(brokers=2, listen=places) as kafka:
        assert kafka.bootstrap_servers.split(",") == places
        added = kafka.add_broker()
        assert added.address not in places


def test_advertised_addresses_have_id_and_port() -> None:
    with Emulator(brokers=2, advertised="kafka-{id}.test:9092") as kafka:
        assert kafka.bootstrap_servers == "kafka-1.test:9092,kafka-2.test:9092"
    with Emulator(brokers=2, advertised="localhost:{port}") as kafka:
        with Connection(kafka.brokers[2].address) as client:
            found = client.ask(MetadataRequest(topics=[]), 9).brokers
        assert [f"{each.host}:{each.port}" for each in found] == kafka.bootstrap_servers.split(",")
        assert found[0].port != found[1].port


def test_a_broker_that_is_stopped_is_not_there(kafka: Emulator) -> None:
    orders = kafka.create_topic("orders", partitions=3, replicas=3)
    with at(kafka, 1) as client:
        kafka.brokers[1].stop()
        with pytest.raises((OSError, EOFError)):
            client.ask(ApiVersionsRequest(), 0)
    with pytest.raises(ConnectionRefusedError):
        at(kafka, 1)
    assert (kafka.brokers[1].state, kafka.brokers[1].is_fenced) == ("down, fenced", True)
    assert [node_id for node_id, *_ in listed(kafka, 2)] == [2, 3]
    with at(kafka, 3) as client:
        request = DescribeClusterRequest(
            include_cluster_authorized_operations=False, include_fenced_brokers=True
        )
        found = client.ask(request, 2).brokers
    assert [(each.broker_id, each.is_fenced) for each in found] == [
        (1, True),
        (2, False),
        (3, False),
    ]
    orders.produce_all([b"a", b"b", b"c"])
    assert set(orders.values()) == {b"a", b"b", b"c"}

    assert (orders[0].leader, orders[0].replicas, orders[0].isr) == (2, [1, 2, 3], [2, 3])
    kafka.brokers[1].start()
    assert [node_id for node_id, *_ in listed(kafka, 1)] == [1, 2, 3]
    assert (orders[0].leader, orders[0].isr) == (2, [1, 2, 3])
    assert kafka.elect_leader("orders", 0) == 1
    assert orders[0].leader == 1
    assert kafka.elect_leader("orders", 0) == 1  # it was already


def test_a_killed_broker_is_known_to_be_gone_when_its_session_ends() -> None:
    with Emulator(brokers=3, clock="manual") as kafka:
        kafka.create_topic("orders", replicas=3)
        kafka.brokers[1].kill()
        assert [node_id for node_id, *_ in listed(kafka, 2)] == [1, 2, 3]
        with at(kafka, 2) as client:
            found = produce(client, batch(b"x"), topic="orders", version=10)
        assert found.error_code == Error.NOT_LEADER_OR_FOLLOWER
        assert found.current_leader.leader_id == 1
        kafka.advance(seconds=1)
        assert [node_id for node_id, *_ in listed(kafka, 2)] == [2, 3]
        with at(kafka, 2) as client:
            assert produce(client, batch(b"x"), topic="orders").error_code == 0


def test_a_session_is_as_long_as_it_is_asked_for() -> None:
    config = {"broker.session.timeout.ms": 5000}
    with Emulator(config, brokers=2, clock="manual") as kafka:
        kafka.brokers[2].kill()
        kafka.advance(ms=4999)
        assert not kafka.brokers[2].is_fenced
        kafka.advance(ms=1)
        assert kafka.brokers[2].is_fenced


def test_a_broker_that_stops_sends_its_clients_on_before_it_closes(kafka: Emulator) -> None:
    kafka.create_topic("orders", replicas=3)
    found: list[int] = []

    def ask_until_it_closes() -> None:
        with at(kafka, 1) as client, suppress(EOFError, OSError):
            while True:
                request = produce_request(batch(b"x"), topic="orders")
                answer = client.ask(request, 9).responses[0].partition_responses[0].error_code
                found.extend([] if answer in found else [answer])

    with ThreadPoolExecutor() as pool:
        asking = pool.submit(ask_until_it_closes)
        until(lambda: found == [Error.NONE])
        kafka.brokers[1].stop()
        assert kafka.brokers[1].state == "down, fenced"
        asking.result(WAIT_S)
    assert found == [Error.NONE, Error.NOT_LEADER_OR_FOLLOWER]
    with pytest.raises(ConnectionRefusedError):
        at(kafka, 1)


def test_the_end_of_all_does_not_wait_for_one_that_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("odradek.emulator.replication.stopping.ANSWERS_MS", 60_000)
    kafka = Emulator(brokers=3).start()
    with at(kafka, 1), ThreadPoolExecutor() as pool:
        stopping = pool.submit(kafka.brokers[1].stop)
        until(lambda: kafka.brokers[1].state == "up, shutting down")
        kafka.stop()
        with pytest.raises(ConnectionError, match="the broker went down"):
            stopping.result(WAIT_S)


def test_in_the_thread_of_the_broker_nobody_waits(kafka: Emulator) -> None:
    with at(kafka, 1):
        view = kafka.brokers[1]
        kafka.run(lambda _: view.stop())
        until(lambda: view.state == "down, fenced")
        view.start()
        kafka.run(lambda _: (view.stop(), view.start()))
        assert view.state == "up"


def test_a_paused_broker_answers_when_it_goes_on(kafka: Emulator) -> None:
    kafka.create_topic("orders", replicas=3)
    with at(kafka, 3) as client, ThreadPoolExecutor() as pool:
        kafka.brokers[3].pause()
        answer = pool.submit(client.ask, ApiVersionsRequest(), 0)
        until(lambda: kafka.brokers[3].is_fenced)
        assert kafka.run(lambda cluster: cluster.partition("orders", 0).isr) == [1, 2]
        assert not answer.done()
        kafka.brokers[3].resume()
        assert answer.result(WAIT_S).error_code == 0


def test_a_paused_broker_is_killed(kafka: Emulator) -> None:
    """What it was sent meanwhile is not carried out."""
    orders = kafka.create_topic("orders", replicas=3)
    with at(kafka, 1) as client, ThreadPoolExecutor() as pool:
        kafka.brokers[1].pause()
        answer = pool.submit(client.ask, produce_request(batch(b"x"), topic="orders"), 9)
        until(lambda: orders[0].leader == 2)
        kafka.brokers[1].kill()
        with pytest.raises(ConnectionError):
            answer.result(WAIT_S)
    assert kafka.brokers[1].state == "down, fenced"
    kafka.brokers[1].start()
    assert (orders[0].isr, orders.values()) == ([1, 2, 3], [])


def test_a_paused_broker_is_killed_before_it_is_missed() -> None:
    with Emulator(brokers=3, clock="manual") as kafka:
        orders = kafka.create_topic("orders", replicas=3)
        kafka.brokers[1].pause()
        kafka.brokers[1].kill()
        assert (orders[0].leader, kafka.brokers[1].is_fenced) == (1, False)
        kafka.advance(seconds=1)
        assert (orders[0].leader, kafka.brokers[1].is_fenced) == (2, True)


def test_acks_of_all_wait_for_a_replica_that_stands_still() -> None:
    with Emulator(brokers=3, clock="manual") as kafka:
        orders = kafka.create_topic("orders", replicas=3)
        kafka.brokers[2].pause()
        with at(kafka, 1) as client, ThreadPoolExecutor() as pool:
            request = produce_request(batch(b"x"), topic="orders")
            request.timeout_ms = 30_000
            answer = pool.submit(client.ask, request, 9)
            until(lambda: kafka.run(lambda c: c.partition("orders", 0).log_end_offset) == 1)
            assert orders.values() == []
            assert not answer.done()
            kafka.advance(seconds=1)  # it is not in sync any more
            assert orders.values() == [b"x"]
            (found,) = answer.result(WAIT_S).responses[0].partition_responses
        assert (found.error_code, found.base_offset) == (0, 0)
        assert kafka.run(lambda cluster: cluster.partition("orders", 0).acks) == []


def test_a_fetch_waits_for_the_high_watermark() -> None:
    with Emulator(brokers=2, clock="manual") as kafka:
        kafka.create_topic("orders", replicas=2)
        kafka.brokers[2].pause()
        with at(kafka, 1) as client:
            asked = ProduceRequest.Topic.Partition(index=0, records=batch(b"x"))
            topics = [ProduceRequest.Topic(name="orders", partition_data=[asked])]
            request = ProduceRequest(acks=1, timeout_ms=1000, topic_data=topics)
            assert client.ask(request, 9).responses[0].partition_responses[0].error_code == 0
            wanted = FetchRequest.Topic.Partition(
                partition=0, fetch_offset=0, partition_max_bytes=1 << 20
            )
            found = client.ask(_fetch(wanted, 0), 11).responses[0].partitions[0]
            assert (found.high_watermark, found.records) == (0, b"")
            kafka.brokers[2].resume()
            found = client.ask(_fetch(wanted, 0), 11).responses[0].partitions[0]
            assert found.high_watermark == 1
            assert found.records


def _fetch(wanted: FetchRequest.Topic.Partition, max_wait_ms: int) -> FetchRequest:
    topics = [FetchRequest.Topic(topic="orders", partitions=[wanted])]
    return FetchRequest(
        replica_id=-1,
        max_wait_ms=max_wait_ms,
        min_bytes=1,
        topics=topics,
        forgotten_topics_data=[],
    )


def test_an_unclean_election_by_hand(kafka: Emulator) -> None:
    orders = kafka.create_topic("orders", replicas=2)
    orders.produce(b"kept")
    kafka.brokers[2].stop()
    orders.produce(b"lost")
    kafka.brokers[1].stop()
    kafka.brokers[2].start()
    with pytest.raises(Refused) as caught:
        kafka.elect_leader("orders")
    assert caught.value.error is Error.PREFERRED_LEADER_NOT_AVAILABLE
    assert kafka.elect_leader("orders", unclean=True) == 2
    assert orders.values() == [b"kept"]
    kafka.brokers[1].start()
    orders.produce(b"new")
    assert orders.values() == [b"kept", b"new"]


def test_what_cannot_be_is_refused_by_name(kafka: Emulator) -> None:
    with pytest.raises(ValueError, match="there is no broker 7, but 1, 2, 3"):
        kafka.brokers[7]
    with pytest.raises(RuntimeError, match="broker 1 has not ended: it is up"):
        kafka.brokers[1].start()
    with pytest.raises(RuntimeError, match="broker 1 is not paused: it is up"):
        kafka.brokers[1].resume()
    kafka.brokers[1].stop()
    with pytest.raises(RuntimeError, match="broker 1 is not running: it is down, fenced"):
        kafka.brokers[1].kill()
    kafka.brokers[2].stop()
    with pytest.raises(RuntimeError, match="broker 3 is the last one that runs"):
        kafka.brokers[3].stop()
    with pytest.raises(Refused) as caught:
        kafka.create_topic("wide", replicas=4)
    assert caught.value.error is Error.INVALID_REPLICATION_FACTOR


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ({"brokers": 0}, ValueError, "brokers is at least 1, not 0"),
        ({"brokers": "3"}, TypeError, "brokers is a number of brokers, at least 1, not '3'"),
        ({"brokers": 2, "racks": ["a"]}, ValueError, "one name for each broker, so 2, not 1"),
        ({"racks": ["a", "b"]}, ValueError, "give brokers=2, too"),
        ({"brokers": 2, "racks": "ab"}, TypeError, "racks is a list of names"),
        ({"brokers": 2, "listen": ["h:1"]}, ValueError, "one address for each broker, so 2, not 1"),
        ({"listen": ["h:1", "h:2"]}, ValueError, "give brokers=2, too"),
        ({"listen": ["h"]}, ValueError, "listen: not an address of the form HOST:PORT: 'h'"),
        ({"listen": "h:1"}, TypeError, "listen is a list of addresses"),
        ({"listen": ["h:1"], "port": 1}, ValueError, "port and listen both say where to listen"),
        ({"advertised": "k-{node}:1"}, ValueError, "advertised: .* {id} and {port}, not node"),
    ],
)
def test_arguments_that_cannot_be_meant(
    given: dict[str, object], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        Emulator(**given)  # type: ignore[arg-type]


def test_the_timeline_names_brokers(kafka: Emulator) -> None:
    kafka.brokers[2].restart()
    kafka.brokers[3].pause()
    kafka.brokers[3].resume()
    told = kafka.timeline()
    for sentence in ("2 was stopped", "2 started again", "3 was paused", "3 was resumed"):
        assert f"broker {sentence}" in told


def test_all_of_them_restart_at_their_addresses(kafka: Emulator) -> None:
    orders = kafka.create_topic("orders", partitions=3, replicas=2)
    orders.produce_all([b"a", b"b", b"c"])
    kafka.brokers[2].stop()
    before = kafka.bootstrap_servers
    kafka.restart()
    assert kafka.bootstrap_servers == before
    assert [each.state for each in kafka.brokers] == ["up", "up", "up"]
    assert [node_id for node_id, *_ in listed(kafka, 2)] == [1, 2, 3]
    assert set(orders.values()) == {b"a", b"b", b"c"}
    kafka.brokers[3].pause()
    kafka.reset()
    assert len(listed(kafka, 3)) == 3
    assert kafka.topics() == []
