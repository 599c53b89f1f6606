"""Handlers that are generator functions, on a live server: others are served between the slices."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from odradek import Emulator
from odradek.emulator.base.call import NO_REPLY, Call, Sentinel
from odradek.emulator.base.chain import Outcome, Step
from odradek.emulator.base.turns import Slices
from odradek.emulator.handlers.registry import SERVED, Served
from odradek.emulator.net import serving
from odradek.wire import Request, Response
from odradek.wire.api.heartbeat import HeartbeatRequest, HeartbeatResponse
from odradek.wire.api.list_offsets import ListOffsetsRequest
from odradek.wire.codec.messages import read_in_slices
from odradek.wire.headers import RequestHeader, write_request_header

from tests.support.sockets import api_versions, connect, framed, is_alive, receive

Sliced = Slices[Response | Sentinel]


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator() as emulator:
        yield emulator


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., Sliced]], None]:
    """Has Heartbeat served by a handler."""

    def by(handler: Callable[..., Sliced]) -> None:
        served = Served(HeartbeatRequest, handler, is_cached=False)
        monkeypatch.setitem(SERVED, HeartbeatRequest.api_key, served)

    return by


class Gate:
    """A handler that goes on, slice after slice, until it is opened."""

    def __init__(self, outcome: Response | Sentinel | None = None) -> None:
        self.is_open = False
        self.slices = 0
        self.has_ended = False
        self._outcome = outcome or HeartbeatResponse(error_code=25)

    def __call__(self, cluster: Any, call: Call, request: HeartbeatRequest) -> Sliced:
        while not self.is_open:
            self.slices += 1
            yield
        self.has_ended = True
        return self._outcome


def heartbeat(correlation: int = 1) -> bytes:
    body = HeartbeatRequest(group_id="g", generation_id=1, member_id="m").encode(3)
    return framed(write_request_header(RequestHeader(12, 3, correlation, "test")) + body)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def list_offsets(partitions: int = 100_000, correlation: int = 2) -> bytes:
    """ListOffsets of the same partition so many times."""
    partition = ListOffsetsRequest.Topic.Partition(partition_index=0, timestamp=-1)
    topic = ListOffsetsRequest.Topic(name="none", partitions=[partition] * partitions)
    body = ListOffsetsRequest(replica_id=-1, topics=[topic]).encode(7)
    return framed(write_request_header(RequestHeader(2, 7, correlation, "test")) + body)


ANSWER = struct.pack(">iih", 1, 0, 25)


def test_others_are_served_meanwhile(kafka: Emulator, serve: Any) -> None:
    gate = Gate()
    serve(gate)
    with connect(kafka) as slow:
        slow.sendall(heartbeat())
        for _ in range(10):
            assert is_alive(kafka)
        until(lambda: gate.slices > 100)
        gate.is_open = True
        assert receive(slow) == ANSWER


def test_several_take_turns(kafka: Emulator, serve: Any) -> None:
    gate = Gate()
    serve(gate)
    with connect(kafka) as one, connect(kafka) as two:
        one.sendall(heartbeat(1))
        two.sendall(heartbeat(2))
        until(lambda: kafka.run(lambda cluster: len(cluster.turns)) == 2)
        assert is_alive(kafka)
        gate.is_open = True
        assert [receive(each)[:4] for each in (one, two)] == [b"\0\0\0\1", b"\0\0\0\2"]


def test_what_was_sent_later_waits(kafka: Emulator, serve: Any) -> None:
    gate = Gate()
    serve(gate)
    with connect(kafka) as sock:
        sock.sendall(heartbeat() + api_versions())
        until(lambda: gate.slices > 100)
        sock.settimeout(0.1)
        with pytest.raises(TimeoutError):
            sock.recv(1)
        gate.is_open = True
        sock.settimeout(30)
        found = sock.recv(14)
        assert found == framed(ANSWER)
        assert receive(sock)[:4] == struct.pack(">i", 7)


def test_one_without_an_answer_lets_the_next_request_through(kafka: Emulator, serve: Any) -> None:
    gate = Gate(NO_REPLY)
    serve(gate)
    with connect(kafka) as sock:
        sock.sendall(heartbeat() + api_versions())
        gate.is_open = True
        assert receive(sock)[:4] == struct.pack(">i", 7)


def test_a_client_that_leaves_meanwhile_harms_nobody(kafka: Emulator, serve: Any) -> None:
    gate = Gate()
    serve(gate)
    with connect(kafka) as sock:
        sock.sendall(heartbeat())
        until(lambda: gate.slices > 0)
    assert is_alive(kafka)
    gate.is_open = True
    until(lambda: gate.has_ended)
    until(lambda: kafka.run(lambda cluster: len(cluster.turns)) == 0)
    assert is_alive(kafka)


def test_an_exception_closes_its_own_connection_only(
    kafka: Emulator, serve: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(cluster: Any, call: Call, request: HeartbeatRequest) -> Sliced:
        for _ in range(3):
            yield
        raise ValueError("in the midst")

    serve(fails)
    with connect(kafka) as other, connect(kafka) as sock:
        sock.sendall(heartbeat() + api_versions())
        assert receive(sock) == b""
        other.sendall(api_versions())
        assert receive(other)[:4] == struct.pack(">i", 7)
    assert "HeartbeatRequest v3 failed" in caplog.text
    assert "in the midst" in caplog.text


def test_a_stop_meanwhile_ends(kafka: Emulator, serve: Any) -> None:
    gate = Gate()
    serve(gate)
    with connect(kafka) as sock:
        sock.sendall(heartbeat())
        until(lambda: gate.slices > 0)
        kafka.stop()
        assert receive(sock) == b""
    assert not gate.has_ended


class Noting(Step):
    """What a step sees of heartbeats."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def before(self, call: Call, request: Request) -> Outcome:
        self.seen.append(type(request).__name__)
        return None

    def after(self, call: Call, request: Request, response: Response | None) -> Outcome:
        self.seen.append(response)
        if isinstance(response, HeartbeatResponse):
            response.error_code = 27
        return None


def test_steps_see_the_request_and_its_answer_once(kafka: Emulator, serve: Any) -> None:
    gate, step = Gate(), Noting()
    serve(gate)
    kafka.run(lambda cluster: cluster.chain.append(step))
    with connect(kafka) as sock:
        sock.sendall(heartbeat())
        until(lambda: gate.slices > 0)
        assert step.seen == ["HeartbeatRequest"]
        gate.is_open = True
        assert receive(sock) == struct.pack(">iih", 1, 0, 27)
    assert step.seen == ["HeartbeatRequest", HeartbeatResponse(error_code=27)]


def test_steps_learn_that_a_client_has_left_meanwhile(kafka: Emulator, serve: Any) -> None:
    gate, step = Gate(), Noting()
    serve(gate)
    kafka.run(lambda cluster: cluster.chain.append(step))
    with connect(kafka) as sock:
        sock.sendall(heartbeat())
        until(lambda: gate.slices > 0)
    until(lambda: step.seen == ["HeartbeatRequest", None])
    gate.is_open = True
    until(lambda: gate.has_ended)
    assert kafka.run(lambda cluster: step.seen) == ["HeartbeatRequest", None]


# A large request is decoded in slices


@pytest.fixture
def decoding(monkeypatch: pytest.MonkeyPatch) -> Gate:
    """Held before it decodes a large request."""
    gate = Gate()

    def held(*args: Any) -> Slices[Request]:
        while not gate.is_open:
            gate.slices += 1
            yield
        request = yield from read_in_slices(*args)
        gate.has_ended = True
        return request

    monkeypatch.setattr(serving, "read_in_slices", held)
    return gate


def test_a_large_request_is_answered_in_its_place(kafka: Emulator) -> None:
    with connect(kafka) as sock:
        sock.sendall(api_versions(correlation=1) + list_offsets() + api_versions(correlation=3))
        assert [receive(sock)[3] for _ in range(3)] == [1, 2, 3]


def test_others_are_served_while_a_large_request_is_decoded(
    kafka: Emulator, decoding: Gate
) -> None:
    with connect(kafka) as large:
        large.sendall(list_offsets())
        until(lambda: decoding.slices > 100)
        assert is_alive(kafka)
        decoding.is_open = True
        assert receive(large)[3] == 2


def test_a_large_request_of_a_client_that_has_left_is_carried_out(
    kafka: Emulator, decoding: Gate
) -> None:
    step = Noting()
    kafka.run(lambda cluster: cluster.chain.append(step))
    with connect(kafka) as large:
        large.sendall(list_offsets())
        until(lambda: decoding.slices > 0)
    assert is_alive(kafka)
    decoding.is_open = True
    until(lambda: decoding.has_ended)
    until(lambda: kafka.run(lambda cluster: len(cluster.turns)) == 0)
    # The steps see it, as they do one whose client leaves while it is served.
    assert step.seen.count("ListOffsetsRequest") == 1
    assert step.seen[-1] is None


@pytest.mark.parametrize("size", [100_000, 2_000_000])
def test_a_large_request_that_is_cut_short_closes_its_own_connection_only(
    kafka: Emulator, size: int
) -> None:
    with connect(kafka) as other, connect(kafka) as large:
        large.sendall(framed(list_offsets(size // 10)[4 : 4 + size // 2]))
        assert receive(large) == b""
        other.sendall(api_versions())
        assert receive(other)[:4] == struct.pack(">i", 7)
