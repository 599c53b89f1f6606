"""Faults of the network, over bare sockets, on both event loops."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Iterator
from time import monotonic
from typing import Any

import pytest
from odradek import Emulator, NeverMatched
from odradek.emulator import broker_thread
from odradek.emulator.net.network.link import Link
from odradek.wire.headers import RequestHeader, write_request_header

from tests.requests.produce import batch, produce_request
from tests.support.asking import Client
from tests.support.sockets import connect, framed, receive


@pytest.fixture(params=["uvloop", "asyncio"])
def kafka(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Emulator]:
    if request.param == "asyncio":
        monkeypatch.setattr(broker_thread, "new_event_loop", asyncio.new_event_loop)
    else:
        pytest.importorskip("uvloop")
    with Emulator(topics={"t": 1}) as kafka:
        yield kafka


def links(kafka: Emulator) -> int:
    """How many connections have something between socket and protocol."""
    return sum(isinstance(each.socket_transport, Link) for each in _protocols(kafka))


def test_latency_for_connections_that_are_there_and_that_come(kafka: Emulator) -> None:
    with Client(kafka) as old:
        assert old.ask() < 0.1
        with kafka.network.latency(0.1) as slow, Client(kafka) as new:
            assert 0.1 <= old.ask() < 0.5
            assert 0.1 <= new.ask() < 0.5
            assert slow.hits == 2
            assert slow.clients == ["test"]
        assert old.ask() < 0.1


def test_latency_upstream_and_both(kafka: Emulator) -> None:
    with Client(kafka) as client:
        with kafka.network.latency(0.06, stream="upstream"):
            assert 0.06 <= client.ask() < 0.5
        with kafka.network.latency(0.06, stream="both"):
            assert 0.12 <= client.ask() < 0.5


def test_faults_add_up(kafka: Emulator) -> None:
    with Client(kafka) as client, kafka.network.latency(0.05), kafka.network.latency(0.06):
        assert client.ask() >= 0.11


def test_jitter_keeps_the_order(kafka: Emulator) -> None:
    with Client(kafka) as client, kafka.network.latency(0.02, jitter=0.02):
        for _ in range(10):
            client.send()
        numbers = [int.from_bytes(receive(client.sock)[:4], "big") for _ in range(10)]
    assert numbers == list(range(1, 11))


def test_bandwidth(kafka: Emulator) -> None:
    with Client(kafka) as client, kafka.network.bandwidth(6000):  # an answer: over 600
        assert 0.1 <= client.ask() < 0.5


def test_bytes_that_come_one_by_one(kafka: Emulator) -> None:
    with Client(kafka) as client, kafka.network.dribble(1, every=0.0001, stream="both") as dribble:
        assert client.ask() >= 0.06
        assert dribble.hits == 1


def test_a_limit_cuts_an_answer_short(kafka: Emulator) -> None:
    with Client(kafka) as client:
        client.send()
        size = 4 + len(receive(client.sock))
    with Client(kafka) as client, kafka.network.limit(size + 74) as limit:
        client.ask()
        assert limit.hits == 0
        client.send()
        assert len(client.sock.recv(4096)) == 74
        assert client.sock.recv(1) == b""
        assert limit.hits == 1


def test_only_a_client_with_this_id_meets_it(kafka: Emulator) -> None:
    with Client(kafka, "billing") as mine, Client(kafka, "shop") as other:
        mine.ask()
        other.ask()
        cut = kafka.cut_off(client_id="billing")
        mine.send()
        assert mine.hears_nothing()
        assert other.ask() < 0.1
        with Client(kafka, "billing") as late, Client(kafka, "shop") as another:
            late.send()
            assert late.hears_nothing()
            assert another.ask() < 0.1
            assert (cut.hits, cut.clients) == (2, ["billing"])
            assert links(kafka) == 2
            kafka.heal()
            assert mine.has_answer()
            assert late.has_answer()
    assert links(kafka) == 0


def test_only_one_connection_meets_it(kafka: Emulator) -> None:
    with Client(kafka) as one, Client(kafka) as two:
        one.ask()
        two.ask()
        first = kafka.clients()[0]
        with kafka.network.latency(0.1, connection=first):
            assert one.ask() >= 0.1
            assert two.ask() < 0.1


def test_a_client_that_is_cut_off_learns_of_nothing(kafka: Emulator) -> None:
    with Client(kafka) as client:
        client.ask()
        with kafka.cut_off():
            kafka.run(lambda _: [each.connection.close() for each in _protocols(kafka)])
            assert client.hears_nothing()
        assert client.sock.recv(1) == b""


def test_the_broker_does_not_learn_that_a_client_has_left_while_it_is_cut_off(
    kafka: Emulator,
) -> None:
    with Client(kafka) as client:
        client.ask()
        with kafka.cut_off():
            client.send()
            client.sock.shutdown(socket.SHUT_WR)
            assert client.hears_nothing()
            assert len(kafka.clients()) == 1
        assert client.has_answer()
        assert client.sock.recv(1) == b""


def test_in_a_black_hole_requests_are_never_carried_out(kafka: Emulator) -> None:
    with Client(kafka) as client, kafka.network.blackhole() as hole:
        header = write_request_header(RequestHeader(0, 9, 1, "test"))
        client.sock.sendall(framed(header + produce_request(batch(b"x")).encode(9)))
        assert client.hears_nothing()
        hole.remove()
        assert client.is_reset()
    assert kafka.topic("t").values() == []


def test_reset_connections(kafka: Emulator) -> None:
    with Client(kafka) as client:
        client.ask()
        with kafka.network.reset(client_id="test") as reset:
            assert client.is_reset()
            with Client(kafka) as new:
                header = write_request_header(RequestHeader(0, 9, 1, "test"))
                new.sock.sendall(framed(header + produce_request(batch(b"x")).encode(9)))
                assert new.is_reset()
            assert reset.hits == 2
    assert kafka.topic("t").values() == [], "its request came with its name"
    with Client(kafka) as client:
        client.ask()


def test_a_reset_after_a_while(kafka: Emulator) -> None:
    with kafka.network.reset(after=0.4), Client(kafka) as client:
        begin = monotonic()
        client.ask()
        assert client.is_reset()
        assert monotonic() - begin >= 0.35


def test_half_open(kafka: Emulator) -> None:
    with Client(kafka) as client:
        client.ask()
        with kafka.network.half_open(), Client(kafka) as new:
            assert kafka.clients() == [] or [each.requests for each in kafka.clients()] == [0]
            client.send()
            assert client.hears_nothing()
            new.ask()
        assert client.is_reset()


def test_a_slow_close(kafka: Emulator) -> None:
    with Client(kafka) as client, kafka.network.slow_close(0.1):
        client.ask()
        begin = monotonic()
        kafka.run(lambda _: [each.connection.close() for each in _protocols(kafka)])
        assert client.sock.recv(1) == b""
        assert monotonic() - begin >= 0.09  # timers of uvloop are in ms


def test_refused_connections(kafka: Emulator) -> None:
    with Client(kafka) as client:
        client.ask()  # else it might be in the backlog, which is refused too
        with kafka.network.refuse():
            client.ask()
            with pytest.raises(ConnectionRefusedError):
                connect(kafka)
            kafka.restart()
            with pytest.raises(ConnectionRefusedError):
                connect(kafka)
        with Client(kafka) as new:
            new.ask()


def test_a_network_that_is_down(kafka: Emulator) -> None:
    with Client(kafka) as client:
        client.ask()
        with kafka.network.down():
            assert client.is_reset()
            with pytest.raises(ConnectionRefusedError):
                connect(kafka)
            kafka.topic("t").produce(b"the broker goes on")
        with Client(kafka) as new:
            new.ask()


def test_a_large_answer_is_sent_at_its_pace(kafka: Emulator) -> None:
    """More than any buffer between holds."""
    with Client(kafka) as client, kafka.network.bandwidth(10_000_000):
        for _ in range(2000):
            client.send()
        for number in range(2000):
            assert receive(client.sock)[:4] == struct.pack(">i", number + 1)


def test_bytes_stay_what_they_are(kafka: Emulator) -> None:
    sent = [bytes([number]) * 100_000 for number in range(10)]
    kafka.topic("t").produce_all(sent)
    kafka.network.dribble(5000, every=0)
    kafka.network.latency(0.002, jitter=0.002, stream="both")
    confluent_kafka = pytest.importorskip("confluent_kafka")
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": kafka.bootstrap_servers,
            "group.id": "g",
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe(["t"])
    found = [message.value() for message in consumer.consume(10, 30)]
    consumer.close()
    assert found == sent


def test_a_fault_that_nobody_meets_fails_the_test() -> None:
    with Emulator() as kafka:
        slow = kafka.network.latency(1, client_id="x")
        with pytest.raises(NeverMatched, match=r"latency\(1, client_id='x'\) was met by no client"):
            slow.__exit__(None, None, None)
        kafka.cut_off(client_id="tset")
        with Client(kafka) as client:
            client.ask()
            with pytest.raises(NeverMatched, match="connected were 'test'"):
                kafka.check_faults()


def test_the_end_of_a_broker_tells_of_such_a_fault() -> None:
    kafka = Emulator().start()
    kafka.network.reset()
    with pytest.raises(NeverMatched):
        kafka.__exit__(None, None, None)
    kafka.stop()


def test_a_fault_that_need_not_be_met() -> None:
    with Emulator() as kafka:
        kafka.network.latency(1).optional()


def test_a_test_that_fails_learns_of_nothing_else() -> None:
    with pytest.raises(ZeroDivisionError), Emulator() as kafka, kafka.network.latency(1):
        _ = 1 / 0


def test_a_reset_of_the_broker_heals_it(kafka: Emulator) -> None:
    kafka.network.latency(5)
    kafka.network.refuse()
    kafka.reset()
    assert kafka.network.faults == []
    with Client(kafka) as client:
        assert client.ask() < 1


def test_faults_stay_over_a_restart(kafka: Emulator) -> None:
    slow = kafka.network.latency(0.1)
    kafka.restart(clean=False)
    with Client(kafka) as client:
        assert client.ask() >= 0.1
    assert slow.hits == 1


def test_a_stop_ends_them(kafka: Emulator) -> None:
    with kafka.network.latency(5).optional() as slow:
        kafka.stop()
    slow.heal()
    kafka.heal()
    kafka.forget_faults()
    kafka.start()
    with Client(kafka) as client:
        client.ask()
        assert links(kafka) == 0


def test_one_broker_is_cut_off(kafka: Emulator) -> None:
    with pytest.raises(ValueError, match="no such broker, but 1"):
        kafka.cut_off(broker=2)
    with Client(kafka) as client, kafka.cut_off(broker=1):
        client.send()
        assert client.hears_nothing()


def test_it_is_reported(kafka: Emulator) -> None:
    with Client(kafka) as client, kafka.network.latency(0.01, jitter=0.01, client_id="test") as it:
        client.ask()
        client.ask()
    said = "kafka.network.latency(0.01, jitter=0.01, client_id='test')"
    assert repr(it) == said
    assert [each.sentence for each in kafka.events if each.kind == "network"] == [
        f"test met {said}"
    ]


@pytest.mark.parametrize(
    ("verb", "arguments", "error", "text"),
    [
        ("latency", {"seconds": -1}, ValueError, "of seconds from 0 to 1000000, not -1"),
        ("latency", {"seconds": "1"}, TypeError, "a number of seconds"),
        ("latency", {"seconds": 1, "stream": "up"}, ValueError, "stream is 'upstream' or"),
        ("bandwidth", {"bytes_per_second": 0}, ValueError, "from 1 on"),
        ("dribble", {"size": 1.5}, TypeError, "a number of bytes"),
        ("cut_off", {"connection": 7}, TypeError, "one of kafka.clients()"),
        ("refuse", {"broker": 9}, ValueError, "no such broker, but 1"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    verb: str, arguments: dict[str, Any], error: type[Exception], text: str
) -> None:
    with Emulator() as kafka, pytest.raises(error, match=text):
        getattr(kafka.network, verb)(**arguments)


def _protocols(kafka: Emulator) -> list[Any]:
    return list(kafka._started().running().server.protocols)


def test_a_broker_may_end_while_clients_meet_faults(kafka: Emulator) -> None:
    with Client(kafka) as client:
        client.ask()
        kafka.cut_off()
        client.send()
        assert client.hears_nothing()
        kafka.restart(clean=False)
        assert client.is_reset()
    with Client(kafka) as client:
        client.send()
        assert client.hears_nothing()
        kafka.stop()
        assert client.sock.recv(1) == b""


def test_without_a_fault_nothing_stands_between_socket_and_connection(kafka: Emulator) -> None:
    with Client(kafka) as client:
        client.ask()
        assert links(kafka) == 0
        with kafka.network.latency(0.001):
            client.ask()
            assert links(kafka) == 1
        assert links(kafka) == 0
        client.ask()


def test_a_client_that_meets_it_again_and_again_is_reported_once(kafka: Emulator) -> None:
    with kafka.network.reset(client_id="test") as reset:
        for _ in range(20):
            with Client(kafka) as client:
                client.send()
                assert client.is_reset()
    assert reset.hits == 20
    (events,) = [each for each in kafka.events if each.kind == "network"]
    assert events.count == 20
    assert events.sentence.startswith("test met kafka.network.reset(client_id='test') 20 times in ")
