"""Topics over the wire: what is found, what is read, and that nothing is written twice."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
from odradek import Emulator
from odradek.compat.spark.pipeline.broker import (
    EARLIEST,
    LATEST,
    BrokerError,
    Cluster,
    OffsetGone,
    Place,
    Producer,
    create_topic,
    fetch,
    find_topics,
    offsets,
    stable_offsets,
    topic_configs,
)
from odradek.compat.spark.pipeline.broker.fetching import whole_batches
from odradek.compat.spark.pipeline.broker.offsets import delete_records
from odradek.compat.spark.pipeline.broker.topics import add_partitions
from odradek.compat.wire_client.blocking_connection import Connection, RequestLost
from odradek.emulator.cluster import Cluster as EmulatorsCluster
from odradek.wire import Error, Request
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.produce import ProduceRequest
from odradek.wire.batch import batches, checksum
from odradek.wire.legacy.message_sets import Message, build_message
from odradek.wire.records import NewRecord, build_batch, read_records

from tests.support.clock import NOW
from tests.support.cluster import at_once
from tests.support.transactional_producer import TxnClient
from tests.support.written import record, write_records

PLACE = ("orders", 0)


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator({"log.retention.ms": -1}, topics={"orders": 2}) as emulator:
        yield emulator


@pytest.fixture
def cluster(kafka: Emulator) -> Iterator[Cluster]:
    with Cluster(kafka.bootstrap_servers, patience=5) as cluster:
        yield cluster


def batch(*values: bytes) -> bytearray:
    return bytearray(build_batch([record(value) for value in values]))


def values(cluster: Cluster, start: int, end: int, place: Place = PLACE) -> list[bytes | None]:
    found = []
    for fetched in fetch(cluster, place, start, end):
        for pos, _ in batches(fetched.records):
            records = read_records(fetched.records, pos)
            found += [each.value for each in records if start <= each.offset < end]
    return found


def test_topics_are_found_by_names_and_patterns(kafka: Emulator, cluster: Cluster) -> None:
    for name in ("orders.eu", "orders.us", "bills"):
        kafka.create_topic(name, partitions=1)
    assert [topic.name for topic in find_topics(cluster, ["orders.*", "bills"])] == [
        "bills",
        "orders.eu",
        "orders.us",
    ]
    (orders,) = find_topics(cluster, ["orders"])
    assert orders.places == [("orders", 0), ("orders", 1)]


def write_in_transaction(kafka: Emulator, value: bytes, *, commit: bool | None) -> None:
    """One record, by a producer called as its value; None leaves the transaction open."""

    def write(inner: EmulatorsCluster) -> None:
        with at_once(inner):
            producer = TxnClient(inner, value.decode()).begin()
            assert producer.write(value, topic="orders") is Error.NONE
            if commit is not None:
                assert producer.end(commit) is Error.NONE

    kafka.run(write)


def test_internal_topics_are_named(kafka: Emulator, cluster: Cluster) -> None:
    write_in_transaction(kafka, b"a", commit=True)
    assert [topic.name for topic in find_topics(cluster)] == ["orders"]
    (internal,) = find_topics(cluster, ["__transaction_state"])
    assert internal.is_internal


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("order", r"there is no topic order at [\d.:]+: did you mean orders\?"),
        ("x*", r"no topic matches 'x\*' at [\d.:]+, which has orders"),
        ("zzz", r"there is no topic zzz at [\d.:]+, which has orders"),
    ],
)
def test_a_topic_that_is_not_there(cluster: Cluster, asked: str, expected: str) -> None:
    with pytest.raises(BrokerError, match=expected):
        find_topics(cluster, [asked])


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    with pytest.raises(BrokerError, match=f"no broker at {address}: "):
        Cluster(address)


def test_a_partition_that_is_not_there(cluster: Cluster) -> None:
    with pytest.raises(BrokerError, match="topic orders has no partition 7"):
        offsets(cluster, [("orders", 7)], LATEST)


def test_offsets_of_several_kinds(kafka: Emulator, cluster: Cluster) -> None:
    places = [("orders", 0), ("orders", 1)]
    write_records(kafka.bootstrap_servers, "orders", 0, record(b"a"))
    write_records(kafka.bootstrap_servers, "orders", 0, NewRecord(NOW + 1000, None, b"b"))
    assert offsets(cluster, places, LATEST) == {places[0]: 2, places[1]: 0}
    assert offsets(cluster, places, NOW + 1) == {places[0]: 1, places[1]: -1}
    delete_records(cluster, PLACE, 1)
    assert offsets(cluster, places, EARLIEST) == {places[0]: 1, places[1]: 0}


def test_what_is_committed_ends_where_a_transaction_is_open(
    kafka: Emulator, cluster: Cluster
) -> None:
    write_in_transaction(kafka, b"no", commit=False)
    write_records(kafka.bootstrap_servers, "orders", 0, record(b"yes"))
    write_in_transaction(kafka, b"later", commit=None)
    assert stable_offsets(cluster, [PLACE]) == {PLACE: 3}
    assert offsets(cluster, [PLACE], LATEST) == {PLACE: 4}
    first, *_, last = fetch(cluster, PLACE, 0, 3)  # a segment each, for the markers' times
    assert [offset for _, offset in first.aborted] == [0]
    assert (last.next_offset, last.high_watermark, last.last_stable_offset) == (3, 4, 3)
    *_, last = fetch(cluster, PLACE, 0, 4, committed=False)
    assert (last.aborted, last.next_offset) == ((), 4)


def test_a_range_is_read_in_several_fetches(kafka: Emulator, cluster: Cluster) -> None:
    for number in range(20):
        write_records(kafka.bootstrap_servers, "orders", 0, record(b"%d" % number * 100))
    fetched = list(fetch(cluster, PLACE, 3, 17, partition_bytes=500))
    assert len(fetched) > 3
    assert fetched[-1].next_offset >= 17
    assert values(cluster, 3, 17) == [b"%d" % number * 100 for number in range(3, 17)]


def test_what_compaction_took_from_the_end_ends_the_range(
    kafka: Emulator, cluster: Cluster
) -> None:
    kafka.create_topic("compacted", configs={"cleanup.policy": "compact", "delete.retention.ms": 0})
    for value in (b"old", b"older", None):
        write_records(kafka.bootstrap_servers, "compacted", 0, NewRecord(NOW, b"k", value))
    while kafka.topic("compacted").records():
        kafka.compact()
    assert values(cluster, 0, 3, ("compacted", 0)) == []


def test_an_offset_that_retention_took(kafka: Emulator, cluster: Cluster) -> None:
    for value in (b"a", b"b"):
        write_records(kafka.bootstrap_servers, "orders", 0, record(value))
    delete_records(cluster, PLACE, 1)
    with pytest.raises(OffsetGone, match="orders-0 has no offset 0: it has 1 up to 2") as gone:
        list(fetch(cluster, PLACE, 0, 2))
    assert (gone.value.first, gone.value.after) == (1, 2)


def test_a_range_beyond_the_end_is_not_waited_for_without_end(
    kafka: Emulator, cluster: Cluster
) -> None:
    write_records(kafka.bootstrap_servers, "orders", 0, record(b"a"))
    cluster.patience = 0
    with pytest.raises(BrokerError, match="read up to 1, and was asked for up to 2"):
        list(fetch(cluster, PLACE, 0, 2))


def test_old_messages_and_batches_are_distinguished_and_cut_ones_left_out() -> None:
    old = bytearray(build_message(Message(7, NOW, None, b"old"), magic=1))
    new = batch(b"a", b"b")
    new[0:8] = (8).to_bytes(8, "big")
    assert whole_batches(memoryview(bytes(old))) == (len(old), 8)
    assert whole_batches(memoryview(bytes(old + new))) == (len(old + new), 10)
    assert whole_batches(memoryview(bytes(old + new)[:-1])) == (len(old), 8)
    assert whole_batches(memoryview(bytes(new)[:-1])) == (0, None)
    with pytest.raises(BrokerError, match="a batch of 12 bytes"):
        whole_batches(memoryview(bytes(20)))


def test_batches_are_written_as_they_are(kafka: Emulator, cluster: Cluster) -> None:
    producer = Producer(cluster)
    assert producer.send({PLACE: batch(b"a", b"b"), ("orders", 1): batch(b"x")}) == {
        PLACE: 0,
        ("orders", 1): 0,
    }
    assert producer.send({PLACE: batch(b"c")}) == {PLACE: 2}
    (fetched,) = fetch(cluster, PLACE, 0, 3)
    heads = [header for _, header in batches(fetched.records)]
    assert [each.base_sequence for each in heads] == [0, 2]
    assert {each.producer_id for each in heads} == {producer.identity.producer_id}
    assert all(
        header.crc == checksum(fetched.records, pos, header.size)
        for pos, header in batches(fetched.records)
    )
    assert values(cluster, 0, 3) == [b"a", b"b", b"c"]


Edit = Callable[[Any], None]


class Network:
    """What the connections do wrong: each wrong answer once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.wrong: list[tuple[type[Request], Edit]] = []
        self.asked: Counter[type[Request]] = Counter()
        ask = Connection.ask

        def wrongly(
            connection: Connection, request: Request, version: int, more_s: float = 0
        ) -> Any:
            answer = ask(connection, request, version, more_s)
            self.asked[type(request)] += 1
            for wrong in self.wrong:
                if isinstance(request, wrong[0]):
                    self.wrong.remove(wrong)
                    wrong[1](answer)
                    break
            return answer

        monkeypatch.setattr(Connection, "ask", wrongly)

    def add(self, request: type[Request], edit: Edit, times: int = 1) -> None:
        self.wrong += [(request, edit)] * times


@pytest.fixture
def network(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> Network:
    return Network(monkeypatch)


def lost(_: object) -> None:
    raise RequestLost("it closed the connection")


def refused(code: int) -> Edit:
    """The first partition in an answer has this error."""

    def edit(answer: Any) -> None:
        topics = answer.topics if isinstance(answer, ListOffsetsResponse) else answer.responses
        names = ("partition_responses", "partitions")
        (found,) = (getattr(topics[0], name) for name in names if hasattr(topics[0], name))
        found[0].error_code = code

    return edit


def test_a_lost_answer_doubles_nothing(cluster: Cluster, network: Network) -> None:
    producer = Producer(cluster)
    network.add(ProduceRequest, lost, times=2)
    assert producer.send({PLACE: batch(b"a"), ("orders", 1): batch(b"x")}) == {
        PLACE: 0,
        ("orders", 1): 0,
    }
    assert network.asked[ProduceRequest] == 3
    assert producer.send({PLACE: batch(b"b")}) == {PLACE: 1}
    assert values(cluster, 0, 2) == [b"a", b"b"]


def test_a_lost_fetch_is_repeated(kafka: Emulator, cluster: Cluster, network: Network) -> None:
    write_records(kafka.bootstrap_servers, "orders", 0, record(b"a"))
    network.add(FetchRequest, lost)
    assert values(cluster, 0, 1) == [b"a"]


def test_a_broker_that_restarts_is_waited_for(tmp_path: Path) -> None:
    with Emulator(topics={"orders": 1}, data_dir=tmp_path) as kafka:
        address = kafka.bootstrap_servers
        cluster = Cluster(address, patience=10)
        producer = Producer(cluster)
        producer.send({PLACE: batch(b"a")})
    again = Emulator(topics={"orders": 1}, data_dir=tmp_path, port=int(address.split(":")[1]))
    timer = Timer(0.5, again.start)
    timer.start()
    try:
        assert producer.send({PLACE: batch(b"b")}) == {PLACE: 1}
        assert values(cluster, 0, 2) == [b"a", b"b"]
    finally:
        timer.join()
        cluster.close()
        again.stop()


def test_a_broker_that_stays_away_is_reported(tmp_path: Path) -> None:
    with Emulator(topics={"orders": 1}, data_dir=tmp_path) as kafka:
        cluster = Cluster(kafka.bootstrap_servers, patience=0.5)
    with cluster, pytest.raises(BrokerError, match=f"no broker at {cluster.addresses}: "):
        offsets(cluster, [PLACE], LATEST)


def test_what_passes_is_waited_for_and_what_does_not_is_reported(
    cluster: Cluster, network: Network
) -> None:
    producer = Producer(cluster)
    network.add(ProduceRequest, refused(Error.NOT_ENOUGH_REPLICAS_AFTER_APPEND), times=2)
    assert producer.send({PLACE: batch(b"a")}) == {PLACE: 0}
    network.add(ProduceRequest, refused(Error.MESSAGE_TOO_LARGE))
    with pytest.raises(BrokerError, match="orders-0 cannot be written: MESSAGE_TOO_LARGE"):
        producer.send({PLACE: batch(b"b")})
    cluster.patience = 0
    network.add(ProduceRequest, refused(Error.NOT_ENOUGH_REPLICAS))
    with pytest.raises(BrokerError, match="orders-0 cannot be written: NOT_ENOUGH_REPLICAS"):
        producer.send({PLACE: batch(b"c")})


def test_an_error_without_a_name_is_reported(cluster: Cluster, network: Network) -> None:
    network.add(ProduceRequest, refused(4321))
    with pytest.raises(BrokerError, match="orders-0: error 4321"):
        Producer(cluster).send({PLACE: batch(b"a")})


def test_leaders_that_move_are_looked_for_again(cluster: Cluster, network: Network) -> None:
    producer = Producer(cluster)
    for request in (ProduceRequest, FetchRequest, ListOffsetsRequest):
        network.add(request, refused(Error.NOT_LEADER_OR_FOLLOWER), times=2)
    assert producer.send({PLACE: batch(b"a")}) == {PLACE: 0}
    assert network.asked[MetadataRequest] == 3
    assert offsets(cluster, [PLACE], LATEST) == {PLACE: 1}
    assert values(cluster, 0, 1) == [b"a"]
    assert network.asked[MetadataRequest] == 7


def test_a_topic_is_created_with_configs_and_grows(cluster: Cluster) -> None:
    create_topic(cluster, "bills", 3, configs={"retention.ms": "1000"})
    assert topic_configs(cluster, ["bills", "orders"]) == {
        "bills": {"retention.ms": "1000"},
        "orders": {},
    }
    add_partitions(cluster, "bills", 4)
    assert find_topics(cluster, ["bills"])[0].partitions == (0, 1, 2, 3)
    with pytest.raises(BrokerError, match="topic bills cannot be created: TOPIC_ALREADY_EXISTS"):
        create_topic(cluster, "bills", 3)
