"""What waits at a broker whose state is put back, and whose clients stay: each is answered."""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from typing import Any

import pytest
from odradek import Emulator
from odradek.wire import Error, Request, Response
from odradek.wire.api import response_class
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.headers import RequestHeader, read_response_header, write_request_header

from tests.requests.fetch import asked, fetch_request
from tests.requests.groups import join_request
from tests.support.sockets import connect, framed, receive


def send(sock: socket.socket, request: Request, version: int) -> None:
    header = write_request_header(RequestHeader(request.api_key, version, 1, "test"))
    sock.sendall(framed(header + request.encode(version)))


def answer(sock: socket.socket, request: type[Request], version: int) -> Any:
    data = receive(sock)
    assert data, "the connection was closed"
    _, pos = read_response_header(data, request.api_key, version)
    found: tuple[Response, int] = response_class(request.api_key).decode_from(data, version, pos)
    return found[0]


def waiting(kafka: Emulator) -> list[str | None]:
    return [client.waits_for for client in kafka.clients()]


def wait_until_parked(kafka: Emulator, name: str) -> None:
    end = time.monotonic() + 30
    while waiting(kafka) != [name]:
        assert time.monotonic() < end, f"{waiting(kafka)} instead of {name}"


def test_a_fetch_is_answered_with_nothing_and_no_session() -> None:
    with Emulator(topics={"t": 1}) as kafka, connect(kafka) as sock:
        state = kafka.snapshot()
        fetch = fetch_request(asked(), max_wait_ms=60_000, session_epoch=0)
        send(sock, fetch, 12)
        wait_until_parked(kafka, "Fetch")
        kafka.restore(state, clients="keep")
        got = answer(sock, type(fetch), 12)
        assert (got.error_code, got.session_id, got.responses) == (Error.NONE, 0, [])

        send(sock, fetch, 12)  # the next one waits at the new cluster, and is woken there
        wait_until_parked(kafka, "Fetch")
        kafka.topic("t").produce("x")
        assert len(answer(sock, type(fetch), 12).responses) == 1


def test_a_member_that_joins_is_asked_to_look_for_its_coordinator() -> None:
    config = {"group.initial.rebalance.delay.ms": 60_000}
    with Emulator(config) as kafka, connect(kafka) as sock:
        look = FindCoordinatorRequest(coordinator_keys=["g"], key_type=0)
        send(sock, look, 4)
        answer(sock, type(look), 4)
        state = kafka.snapshot()
        join = join_request()
        send(sock, join, 3)  # of before a member had to ask for its id
        wait_until_parked(kafka, "JoinGroup")
        kafka.restore(state, clients="keep")
        assert answer(sock, type(join), 3).error_code == Error.NOT_COORDINATOR
        send(sock, join, 3)
        wait_until_parked(kafka, "JoinGroup")


@pytest.mark.parametrize("clients", ["keep", "cut"])
def test_an_answer_that_is_being_sent(clients: str) -> None:
    """Of 40 MB of a log that is no more: to its end, where the client is kept."""
    with Emulator(topics={"t": 1}) as kafka, connect(kafka) as sock:
        state = kafka.snapshot()
        for _ in range(50):
            kafka.topic("t").produce(bytes(800_000))
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        fetch = fetch_request(asked(max_bytes=1 << 30), max_bytes=1 << 30)
        send(sock, fetch, 12)
        size = int.from_bytes(sock.recv(4, socket.MSG_WAITALL), "big")
        assert size > 40_000_000
        send(sock, fetch, 12)

        kafka.restore(state, clients=clients)

        if clients == "cut":
            assert _received(sock, size) < size
        else:
            assert _received(sock, size) == size
            got = answer(sock, type(fetch), 12)
            (partition,) = got.responses[0].partitions
            assert (partition.error_code, partition.high_watermark) == (Error.NONE, 0)


def _received(sock: socket.socket, size: int) -> int:
    count = 0
    with suppress(ConnectionResetError):
        while count < size and (piece := sock.recv(min(1 << 20, size - count))):
            count += len(piece)
    return count
