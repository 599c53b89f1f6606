"""Rules as a test sets them, from its thread, on a broker that runs."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from odradek.emulator import Emulator, Error, NeverMatched, WaitTimeout
from odradek.emulator.base.real_time import monotonic
from odradek.emulator.blocking_connection import Connection
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.headers import RequestHeader, write_request_header

ASKED = MetadataRequest(topics=None)


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(topics={"orders": 1}) as kafka:
        yield kafka


@contextmanager
def connect(kafka: Emulator) -> Iterator[Connection]:
    host, _, port = kafka.bootstrap_servers.rpartition(":")
    connection = Connection(host, int(port), 10)
    try:
        yield connection
    finally:
        connection.close()


def ask_in_a_thread(kafka: Emulator, answers: list[object]) -> threading.Thread:
    def ask() -> None:
        try:
            with connect(kafka) as connection:
                answers.append(connection.ask(ASKED, 12))
        except (OSError, EOFError) as error:
            answers.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    return thread


def test_a_gate_from_the_test_s_thread(kafka: Emulator) -> None:
    gate, answers = kafka.on("Metadata").hold(), list[object]()
    thread = ask_in_a_thread(kafka, answers)
    (request,) = gate.wait_hit()
    assert request == ASKED
    assert (answers, gate.held) == ([], 1)
    gate.release()
    thread.join(30)
    assert (len(answers), gate.held) == (1, 0)


def test_a_gate_in_a_coroutine(kafka: Emulator) -> None:
    async def main() -> None:
        gate, answers = kafka.on("Metadata").hold(), list[object]()
        thread = ask_in_a_thread(kafka, answers)
        assert len(await gate.await_hit()) == 1
        gate.release()
        await asyncio.to_thread(thread.join, 30)
        assert len(answers) == 1

    asyncio.run(main())


def test_a_wait_says_what_came_nearest(kafka: Emulator) -> None:
    rule = kafka.on("Metadata", client_id="app").optional().disconnect()
    with connect(kafka) as connection:
        connection.ask(ASKED, 12)
    with pytest.raises(WaitTimeout) as raised:
        rule.wait_hit(timeout=0.05)
    assert (
        "kafka.on('Metadata', client_id='app').optional().disconnect('before') to take effect"
        in (str(raised.value))
    )
    assert "client_id is" in str(raised.value)


def test_a_delay_takes_its_time(kafka: Emulator) -> None:
    rule = kafka.on("Metadata").once().delay(0.2)
    begin = monotonic()
    with connect(kafka) as connection:
        connection.ask(ASKED, 12)
    assert monotonic() - begin >= 0.2
    assert (rule.hits, rule.held) == (1, 0)


@pytest.mark.parametrize("verb", ["hold", "drop_request", "drop_reply"])
def test_a_stop_does_not_wait_for_what_is_held(kafka: Emulator, verb: str) -> None:
    rule, answers = getattr(kafka.on("Metadata"), verb)(), list[object]()
    thread = ask_in_a_thread(kafka, answers)
    rule.wait_hit()
    kafka.stop()
    thread.join(30)
    (answer,) = answers
    assert isinstance(answer, OSError | EOFError)


def test_rules_outlive_a_restart(kafka: Emulator) -> None:
    rule = kafka.on("Metadata").once().disconnect()
    kafka.stop()
    kafka.start()
    with connect(kafka) as connection, pytest.raises((OSError, EOFError)):
        connection.ask(ASKED, 12)
    assert rule.hits == 1


@pytest.mark.parametrize("clients", ["cut", "keep"])
def test_what_is_held_and_a_restore(kafka: Emulator, clients: str) -> None:
    state = kafka.snapshot()
    gate, answers = kafka.on("Metadata").hold(), list[object]()
    thread = ask_in_a_thread(kafka, answers)
    gate.wait_hit()
    kafka.restore(state, clients=clients)
    thread.join(30)
    assert isinstance(answers[0], OSError | EOFError)
    assert kafka.rules == []
    gate.release()
    with connect(kafka) as connection:
        assert connection.ask(ASKED, 12)


def test_the_end_of_a_broker_tells() -> None:
    def never(error: Exception | None = None) -> None:
        with Emulator() as kafka:
            kafka.on("Fetch").drop_reply()
            if error is not None:
                raise error

    with pytest.raises(NeverMatched, match="There was no Fetch request"):
        never()
    with pytest.raises(ZeroDivisionError):
        never(ZeroDivisionError())


def test_the_test_itself_meets_no_rules(kafka: Emulator) -> None:
    kafka.on("Produce").optional().fail(Error.NOT_LEADER_OR_FOLLOWER)
    kafka.on("Fetch").optional().drop_reply()
    kafka.topic("orders").produce("espresso")
    assert kafka.topic("orders").values() == [b"espresso"]


def ask_raw(kafka: Emulator) -> bytes:
    """What comes back for a request, until the connection is closed or silent."""
    host, _, port = kafka.bootstrap_servers.rpartition(":")
    header = RequestHeader(MetadataRequest.api_key, 12, 7, "raw")
    body = write_request_header(header) + ASKED.encode(12)
    found = b""
    with socket.create_connection((host, int(port)), 0.5) as sock, suppress(TimeoutError):
        sock.sendall(len(body).to_bytes(4, "big") + body)
        while some := sock.recv(65536):
            found += some
    return found


def test_a_reply_that_is_cut_and_one_that_is_repeated(kafka: Emulator) -> None:
    whole = ask_raw(kafka)
    kafka.on("Metadata").once().truncate_reply(5)
    assert ask_raw(kafka) == whole[: 4 + 5]
    kafka.on("Metadata").once().truncate_reply(-1)
    assert ask_raw(kafka) == whole[:-1]
    kafka.on("Metadata").once().repeat_reply()
    assert ask_raw(kafka) == whole * 2
    assert [rule.hits for rule in kafka.rules] == [1, 1, 1]
