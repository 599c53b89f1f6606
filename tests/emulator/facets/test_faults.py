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


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_function_is_called_while_the_request_waits(kafka: Emulator, when: str) -> None:
    begun, goes_on = threading.Event(), threading.Event()

    def function() -> None:
        kafka.create_topic("receipts")  # any verb can be used
        begun.set()
        assert goes_on.wait(30)

    rule, answers = kafka.on("Metadata").once().call(function, when), list[object]()
    thread = ask_in_a_thread(kafka, answers)
    assert begun.wait(30)
    assert answers == []
    goes_on.set()
    thread.join(30)
    (answer,) = answers
    names = {topic.name for topic in answer.topics}  # type: ignore[attr-defined]
    assert names == ({"orders", "receipts"} if when == "before" else {"orders"})
    more = "" if when == "before" else ", 'after'"
    assert str(rule) == f"kafka.on('Metadata').once().call(function{more})"


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_function_may_end_the_broker(kafka: Emulator, when: str) -> None:
    kafka.on("Metadata").once().call(lambda: kafka.restart(clean=False), when)
    with pytest.raises((OSError, EOFError)), connect(kafka) as connection:
        connection.ask(ASKED, 12)
    with connect(kafka) as connection:
        assert connection.ask(ASKED, 12)
    kafka.check_faults()
    assert no_thread_calls()


def test_what_a_function_raises_is_told_at_the_end(kafka: Emulator) -> None:
    def fails() -> None:
        raise LookupError("no such thing")

    kafka.on("Metadata").call(fails)
    with connect(kafka) as connection:
        assert connection.ask(ASKED, 12)
    with pytest.raises(LookupError, match="no such thing") as raised:
        kafka.check_faults()
    assert raised.value.__notes__ == ["raised within kafka.on('Metadata').call(fails)"]


def test_a_rule_that_is_removed_holds_nothing_more(kafka: Emulator) -> None:
    goes_on = threading.Event()
    rule, answers = kafka.on("Metadata").call(lambda: goes_on.wait(30)), list[object]()
    thread = ask_in_a_thread(kafka, answers)
    rule.wait_hit()
    rule.remove()
    thread.join(30)
    assert len(answers) == 1
    goes_on.set()
    assert no_thread_calls()


def test_what_is_called_is_a_function(kafka: Emulator) -> None:
    with pytest.raises(TypeError, match="call takes a function of nothing, not 3"):
        kafka.on("Metadata").call(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="when is 'before' or 'after'"):
        kafka.on("Metadata").call(kafka.restart, "during")


def no_thread_calls() -> bool:
    """Whether all functions have returned; waits for them."""
    for thread in threading.enumerate():
        if thread.name == "odradek rule":
            thread.join(30)
    return not [each for each in threading.enumerate() if each.name == "odradek rule"]
