"""A proxy in front of an emulator, and of sockets that answer what no emulator does."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from odradek import Emulator, NeverMatched, Proxy
from odradek.compat.proxy.upstream import UpstreamCluster
from odradek.emulator.base.call import NO_REPLY, PARKED, Call
from odradek.emulator.base.chain import Outcome, Step
from odradek.wire import Error, Request, Response
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.describe_cluster import DescribeClusterRequest
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.metadata import MetadataRequest, MetadataResponse

from tests.requests.fetch import asked, fetch_request, only, values
from tests.requests.produce import batch, produce, produce_request
from tests.support.connection import Connection

ALL = MetadataRequest(topics=None)


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(topics={"t": 1}, journal=True) as kafka:
        yield kafka


@pytest.fixture
def proxy(kafka: Emulator) -> Iterator[Proxy]:
    with Proxy(kafka.bootstrap_servers, journal=True) as proxy:
        yield proxy


@pytest.fixture
def client(proxy: Proxy) -> Iterator[Connection]:
    with Connection(proxy.bootstrap_servers) as connection:
        yield connection


def port_of(address: str) -> int:
    return int(address.rsplit(":", 1)[1])


def test_every_answer_with_an_address_has_the_proxy_s(client: Connection, proxy: Proxy) -> None:
    port = port_of(proxy.bootstrap_servers)
    (broker,) = client.ask(ALL, 12).brokers
    (again,) = client.ask(
        DescribeClusterRequest(include_cluster_authorized_operations=False), 0
    ).brokers
    old = client.ask(FindCoordinatorRequest(key="g", key_type=0), 2)
    asked_for = FindCoordinatorRequest(coordinator_keys=["g"], key_type=0)
    (new,) = client.ask(asked_for, 4).coordinators
    for each in (broker, again, old, new):
        assert (each.host, each.port) == ("127.0.0.1", port)


def test_records_go_and_come_and_are_in_the_journal(
    client: Connection, proxy: Proxy, kafka: Emulator
) -> None:
    produce(client, batch(b"x" * 200_000), topic="t")
    client.send(produce_request(batch(b"y"), acks=0), 9)
    fetched = client.ask(fetch_request(asked(), max_bytes=1 << 20), 12)
    assert values(only(fetched)) == [b"x" * 200_000, b"y"]
    passed, served = proxy.journal.all(), kafka.journal.all()
    assert [(each.api, each.outcome) for each in passed] == [
        ("Produce", "answered"), ("Produce", "no reply"), ("Fetch", "answered")
    ]  # fmt: skip
    assert [each.request_frame for each in passed] == [
        each.request_frame for each in served.of(client_id="by hand")
    ]
    peer = passed[0].connection
    assert peer.broker.port == port_of(proxy.bootstrap_servers)
    assert peer.node_id == 1
    assert len(proxy.journal.of(topic="t")) == 3


def test_requests_that_are_sent_ahead_are_not_held_up(client: Connection, proxy: Proxy) -> None:
    for _ in range(20):
        client.send(ALL, 12)
    end = time.monotonic() + 30
    while len(proxy.journal.of(outcome="answered")) < 20:
        assert time.monotonic() < end
    assert [each.correlation_id for each in proxy.journal] == list(range(1, 21))


def test_the_timeline_tells_what_can_be_seen_on_the_way(client: Connection, proxy: Proxy) -> None:
    client.ask(ApiVersionsRequest(client_software_name="x", client_software_version="1"), 3)
    produce(client, batch(b"x"), topic="none")
    lines = [line.split(" s  ")[1] for line in proxy.timeline().splitlines()]
    assert lines[0] == "by hand connected (x 1)"
    assert lines[1].startswith("by hand was refused Produce (none-0): UNKNOWN_TOPIC_OR_PARTITION")
    assert proxy.journal[0].connection.software == ("x", "1")


class Does(Step):
    """A step that does this to requests, or to answers, of Metadata."""

    def __init__(
        self,
        before: Callable[[Call, Any], Outcome] | None = None,
        after: Callable[[Call, Any], Outcome] | None = None,
    ) -> None:
        self._before, self._after = before, after
        self.seen: list[str] = []

    def before(self, call: Call, request: Request) -> Outcome:
        if not isinstance(request, MetadataRequest):
            return None
        call.note("a rule")
        self.seen.append(type(request).__name__)
        return None if self._before is None else self._before(call, request)

    def after(self, call: Call, request: Request, response: Response | None) -> Outcome:
        if not isinstance(request, MetadataRequest):
            return None
        self.seen.append(type(response).__name__)
        if self._after is None or response is None:
            return None
        return self._after(call, response)


def put(proxy: Proxy, step: Step) -> Step:
    proxy.run(lambda behind: behind.chain.append(step))
    return step


def test_steps_see_decoded_requests_and_answers_which_go_on_as_they_came(
    client: Connection, proxy: Proxy, kafka: Emulator
) -> None:
    step = Does()
    put(proxy, step)
    answer = client.ask(ALL, 12)
    client.send(produce_request(batch(b"y"), acks=0), 9)
    assert [each.name for each in client.ask(ALL, 12).topics] == ["t"]
    assert step.seen == ["MetadataRequest", "MetadataResponse"] * 2
    assert proxy.journal[0].notes == ["a rule"]
    assert proxy.journal[0].response == answer
    assert [each.outcome for each in proxy.journal] == ["answered", "no reply", "answered"]
    assert kafka.topic("t").values() == [b"y"]


def test_a_step_changes_a_request_and_an_answer(client: Connection, proxy: Proxy) -> None:
    def ask_for_nothing(call: Call, request: Any) -> Outcome:
        request.topics = []
        return None

    def rename(call: Call, response: Any) -> Outcome:
        response.cluster_id = "changed"
        return None

    put(proxy, Does(ask_for_nothing, rename))
    answer = client.ask(ALL, 12)
    assert (answer.topics, answer.cluster_id) == ([], "changed")
    assert answer.brokers[0].port == port_of(proxy.bootstrap_servers)
    assert proxy.journal[0].request == ALL
    assert proxy.journal[0].response == answer


def test_a_step_answers_in_place_of_the_broker(
    client: Connection, proxy: Proxy, kafka: Emulator
) -> None:
    made = MetadataResponse(brokers=[], topics=[], cluster_id="made")
    put(proxy, Does(before=lambda call, request: made))
    before = len(kafka.journal)
    assert client.ask(ALL, 12).cluster_id == "made"
    assert len(kafka.journal) == before


def test_a_step_keeps_a_request_or_its_answer_back(
    client: Connection, proxy: Proxy, kafka: Emulator
) -> None:
    for step in (Does(before=lambda *_: NO_REPLY), Does(after=lambda *_: NO_REPLY)):
        before = len(kafka.journal)
        put(proxy, step)
        client.send(ALL, 12)
        produce(SkippingOne(client), batch(b"x"), topic="t")
        proxy.run(lambda behind: behind.chain.clear())
        assert proxy.journal.of("Metadata")[-1].outcome == "no reply"
        assert len(kafka.journal) - before == 1 + (step._after is not None)


class SkippingOne:
    """A connection on which the answer before was not sent: ids go on."""

    def __init__(self, connection: Connection) -> None:
        self.ask = connection.ask


def test_what_a_step_holds_goes_on_when_it_is_released(client: Connection, proxy: Proxy) -> None:
    held: list[Call] = []

    def hold(call: Call, request: Any) -> Outcome:
        held.append(call)
        threading.Timer(0.05, lambda: proxy.run(lambda _: call.go_on())).start()
        return PARKED

    put(proxy, Does(before=hold))
    assert client.ask(ALL, 12).topics
    assert (proxy.journal[0].duration_ms or 0) >= 50
    assert len(held) == 1


def test_a_step_closes_the_connection(client: Connection, proxy: Proxy) -> None:
    def close(call: Call, request: Any) -> Outcome:
        call.close()
        return None

    step = Does(before=close)
    put(proxy, step)
    with pytest.raises((EOFError, ConnectionError)):
        client.ask(ALL, 12)
    assert proxy.journal[0].outcome == "closed"
    assert step.seen == ["MetadataRequest", "NoneType"]


def test_a_step_that_fails_closes_the_connection_of_its_call_only(
    client: Connection, proxy: Proxy, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(call: Call, message: Any) -> Outcome:
        raise LookupError("a defect")

    for step in (Does(before=fail), Does(after=fail)):
        put(proxy, step)
        with (
            Connection(proxy.bootstrap_servers) as other,
            pytest.raises((EOFError, ConnectionError)),
        ):
            other.ask(ALL, 12)
        proxy.run(lambda behind: behind.chain.clear())
        assert "a defect" in caplog.text
        caplog.clear()
    assert client.ask(ALL, 12).topics


def test_a_client_that_goes_while_its_request_is_held(proxy: Proxy) -> None:
    step = Does(before=lambda *_: PARKED)
    put(proxy, step)
    with Connection(proxy.bootstrap_servers) as client:
        client.send(ALL, 12)
        end = time.monotonic() + 30
        while not step.seen:
            assert time.monotonic() < end
    while proxy.journal[0].outcome == "waiting":
        assert time.monotonic() < end
    assert (proxy.journal[0].outcome, step.seen[-1]) == ("closed", "NoneType")


@pytest.mark.parametrize("names_both", [False, True])
def test_a_second_broker_has_a_port_of_its_own(kafka: Emulator, names_both: bool) -> None:
    """Also if the proxy was told of its address at the start."""
    with Emulator(topics={"other": 1}) as second:
        to = [kafka.bootstrap_servers] + [second.bootstrap_servers] * names_both
        port = port_of(second.bootstrap_servers)

        class Two(Step):
            def after(self, call: Call, request: Request, response: Response | None) -> Outcome:
                if isinstance(response, MetadataResponse):
                    node = MetadataResponse.Broker(node_id=2, host="127.0.0.1", port=port)
                    response.brokers.append(node)
                return None

        kafka.run(lambda cluster: cluster.chain.append(Two()))
        with Proxy(",".join(to), journal=True) as proxy:
            with Connection(proxy.bootstrap_servers) as client:
                first, other = client.ask(ALL, 12).brokers
            assert first.port == port_of(proxy.bootstrap_servers)
            assert other.port not in (first.port, port)
            with Connection(f"127.0.0.1:{other.port}") as client:
                assert [each.name for each in client.ask(ALL, 12).topics] == ["other"]
            assert [each.connection.node_id for each in proxy.journal] == [1, 2]


def test_ports_after_the_one_that_was_chosen(kafka: Emulator) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with Proxy(kafka.bootstrap_servers, port=port) as proxy:
        assert proxy.bootstrap_servers == f"127.0.0.1:{port}"


@contextmanager
def answering(answers: Callable[[bytes], bytes]) -> Iterator[str]:
    """A Kafka that can do little: Metadata and ApiVersions as an emulator, else what is given."""
    with Emulator() as kafka, socket.create_server(("127.0.0.1", 0)) as server:

        def serve(sock: socket.socket) -> None:
            with sock, sock.makefile("rb") as stream:
                while head := stream.read(4):
                    frame = stream.read(struct.unpack(">i", head)[0])
                    if frame[1] in (3, 18) and not frame[0]:
                        answer = raw(kafka.bootstrap_servers, frame)
                    else:
                        answer = answers(frame)
                    sock.sendall(struct.pack(">i", len(answer)) + answer)

        def accept() -> None:
            while True:
                try:
                    sock, _ = server.accept()
                except OSError:
                    return
                threading.Thread(target=serve, args=(sock,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)


def raw(address: str, frame: bytes) -> bytes:
    host, port = address.rsplit(":", 1)
    with socket.create_connection((host, int(port))) as sock, sock.makefile("rb") as stream:
        sock.sendall(struct.pack(">i", len(frame)) + frame)
        return stream.read(struct.unpack(">i", stream.read(4))[0])


@pytest.mark.parametrize("has_steps", [False, True])
@pytest.mark.parametrize(
    "head", [struct.pack(">hh", 999, 3), struct.pack(">hh", 1, 99)], ids=["api", "version"]
)
def test_what_is_not_known_passes_untouched(head: bytes, has_steps: bool) -> None:
    body = head + struct.pack(">ih", 42, -1) + b"\0whatever"
    reply = struct.pack(">i", 42) + b"\1\2\3"
    got: list[bytes] = []

    def answer(frame: bytes) -> bytes:
        got.append(frame)
        return reply

    with answering(answer) as address, Proxy(address, journal=True) as proxy:
        if has_steps:
            put(proxy, Does())
        assert raw(proxy.bootstrap_servers, body) == reply
        found = proxy.journal[-1]
    assert got == [body]
    assert (found.request_frame, found.response_frame) == (body, reply)
    assert found.response is None


def test_clients_are_given_the_host_that_is_advertised(kafka: Emulator) -> None:
    with Proxy(kafka.bootstrap_servers, advertised="localhost") as proxy:
        assert proxy.bootstrap_servers.startswith("localhost:")
        with Connection(proxy.bootstrap_servers) as client:
            assert client.ask(ALL, 12).brokers[0].host == "localhost"


def test_arguments_are_checked() -> None:
    with pytest.raises(TypeError, match="to is a str"):
        Proxy(9092)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not an address of the form HOST:PORT"):
        Proxy("localhost")


def test_no_kafka_is_there() -> None:
    proxy = Proxy("127.0.0.1:1")
    with pytest.raises(ConnectionError, match=r"no broker at 127\.0\.0\.1:1"):
        proxy.start()
    with pytest.raises(RuntimeError, match="not running"):
        _ = proxy.bootstrap_servers
    proxy.stop()


def test_of_several_addresses_the_first_that_answers_is_taken(kafka: Emulator) -> None:
    with (
        Proxy(f"127.0.0.1:1,{kafka.bootstrap_servers}") as proxy,
        Connection(proxy.bootstrap_servers) as client,
    ):
        assert client.ask(ALL, 12).topics


def test_a_port_that_is_taken(kafka: Emulator) -> None:
    with pytest.raises(OSError, match="Address already in use"):
        Proxy(kafka.bootstrap_servers, port=port_of(kafka.bootstrap_servers)).start()


def test_async_with_and_again(kafka: Emulator) -> None:
    async def used() -> int:
        async with Proxy(kafka.bootstrap_servers, journal=True) as proxy:
            with Connection(proxy.bootstrap_servers) as client:
                client.ask(ALL, 12)
        assert proxy.events
        return len(proxy.journal)

    assert asyncio.run(used()) == 1


def test_a_stop_closes_connections_and_the_journal_stays(kafka: Emulator) -> None:
    proxy = Proxy(kafka.bootstrap_servers, journal=True).start()
    with Connection(proxy.bootstrap_servers) as client:
        client.send(fetch_request(asked(), max_wait_ms=30_000), 12)
        end = time.monotonic() + 30
        while not len(proxy.journal):
            assert time.monotonic() < end
        proxy.stop()
        with pytest.raises((EOFError, ConnectionError)):
            client._read(4)
    assert proxy.journal[0].outcome == "closed"
    with pytest.raises(RuntimeError, match="not running"):
        proxy.run(lambda behind: behind)


def test_a_broker_that_goes_ends_its_connections(kafka: Emulator, proxy: Proxy) -> None:
    with Connection(proxy.bootstrap_servers) as client:
        client.ask(ALL, 12)
        kafka.stop()
        with pytest.raises((EOFError, ConnectionError)):
            client.ask(ALL, 12)
    with pytest.raises((EOFError, ConnectionError)), Connection(proxy.bootstrap_servers) as client:
        client.ask(ALL, 12)


def test_what_steps_find_in_place_of_a_cluster(client: Connection, proxy: Proxy) -> None:
    client.ask(ALL, 12)
    called = threading.Event()

    def look(behind: UpstreamCluster) -> bytes:
        behind.after(1, called.set)
        behind.settle()
        topic = behind.topics.get("t")
        assert topic is not None
        assert behind.topics.by_id(topic.id) == topic
        assert behind.topics.get("none") is None
        assert behind.topics.by_id(b"?" * 16) is None
        return topic.id

    assert len(proxy.run(look)) == 16
    assert called.wait(30)


def test_what_is_read_in_a_fetch_session_is_known_to_steps(
    client: Connection, proxy: Proxy
) -> None:
    def wanted(session_id: int) -> list[tuple[str, int]]:
        def look(behind: UpstreamCluster) -> list[tuple[str, int]]:
            found = behind.brokers[1].fetch_sessions.wanted(session_id)
            return [(each.topic.name, each.partition) for each in found]

        return proxy.run(look)

    first = client.ask(fetch_request(asked(), session_id=0, session_epoch=0), 12)
    session_id = first.session_id
    assert session_id
    assert wanted(session_id) == [("t", 0)]
    client.ask(fetch_request(session_id=session_id, session_epoch=1), 12)
    assert wanted(session_id) == [("t", 0)]
    forgotten = [FetchRequest.ForgottenTopic(topic="t", partitions=[0])]
    asked_for = fetch_request(
        session_id=session_id, session_epoch=2, forgotten_topics_data=forgotten
    )
    client.ask(asked_for, 12)
    assert wanted(session_id) == [] == wanted(12345)


def test_errors_of_answers_are_seen(client: Connection, proxy: Proxy) -> None:
    produce(client, batch(b"x"), topic="none")
    assert len(proxy.journal.of(error=Error.UNKNOWN_TOPIC_OR_PARTITION)) == 1


def test_rules_take_effect_on_the_way(client: Connection, proxy: Proxy, kafka: Emulator) -> None:
    rule = proxy.on("Produce", topic="t").once().fail(Error.NOT_LEADER_OR_FOLLOWER)
    refused = client.ask(produce_request(batch(b"x")), 9)
    (topic,) = refused.responses
    assert topic.partition_responses[0].error_code == Error.NOT_LEADER_OR_FOLLOWER
    assert len(rule.wait_hit()) == rule.hits == 1
    assert kafka.topic("t").values() == []  # it was not carried out
    produce(client, batch(b"y"), topic="t")
    assert kafka.topic("t").values() == [b"y"]
    (first, _) = proxy.journal.of("Produce")
    assert first.notes == [repr(rule)]


def test_an_answer_that_is_lost_on_the_way_was_given(proxy: Proxy, kafka: Emulator) -> None:
    lost = proxy.on("Produce").once().disconnect("after")
    with Connection(proxy.bootstrap_servers) as first, pytest.raises(EOFError):
        first.ask(produce_request(batch(b"x")), 9)
    lost.wait_hit()
    assert kafka.topic("t").values() == [b"x"]


def test_a_rule_on_a_proxy_that_nobody_meets_is_reported_at_its_end(kafka: Emulator) -> None:
    with (
        pytest.raises(NeverMatched, match="There was no Fetch request"),
        Proxy(kafka.bootstrap_servers) as proxy,
    ):
        proxy.on("Fetch").drop_reply()
