"""The broker's time as a test moves it, with clients on real sockets."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import trio
from odradek.emulator import Cluster, Emulator, ManualClock
from odradek.emulator.upkeep.log_manager import LogManager
from odradek.wire.api.find_coordinator import FindCoordinatorRequest

from tests.requests.fetch import asked, fetch_request, only
from tests.requests.groups import stable
from tests.support.connection import Connection

DAY_MS = 24 * 60 * 60 * 1000
LONG_S = 30.0
"""How long to wait for what has to happen."""


def at(kafka: Emulator, after_ms: int, callback: Callable[[], None]) -> None:
    """Have a timer of the broker's fire."""

    def begin(cluster: Cluster) -> None:
        cluster.timers.at(cluster.clock.now() + after_ms, callback)

    kafka.run(begin)


@pytest.mark.parametrize("clock", ["system", "manual", 60])
def test_what_is_due_happens_in_order_at_its_own_time(clock: Any) -> None:
    found: list[tuple[str, int]] = []
    with Emulator(clock=clock) as kafka, kafka.paused():
        begin = kafka.now

        def note(name: str) -> Callable[[], None]:
            return lambda: found.append((name, kafka.now - begin))

        at(kafka, 2 * DAY_MS, note("second"))
        at(kafka, 1000, note("first"))
        at(kafka, 9 * DAY_MS, note("last"))
        kafka.advance(days=7)
        assert kafka.now == begin + 7 * DAY_MS
        assert found == [("first", 1000), ("second", 2 * DAY_MS)]
        kafka.advance(days=2)
        assert found[2:] == [("last", 9 * DAY_MS)]


@pytest.mark.parametrize(
    ("by", "milliseconds"),
    [
        (lambda kafka: kafka.advance(days=1, hours=2, minutes=3, seconds=4, ms=5), 93_784_005),
        (lambda kafka: kafka.advance(seconds=0.25), 250),
        (lambda kafka: kafka.advance(timedelta(minutes=2)), 120_000),
        (lambda kafka: kafka.advance(1.5), 1500),
        (lambda kafka: kafka.advance(), 0),
    ],
)
def test_how_far_is_said_in_any_unit(by: Callable[[Emulator], None], milliseconds: int) -> None:
    with Emulator(clock=ManualClock(1_600_000_000_000)) as kafka:
        by(kafka)
        assert kafka.now == 1_600_000_000_000 + milliseconds


@pytest.mark.parametrize(
    ("by", "kind", "text"),
    [
        (lambda kafka: kafka.advance(days=-1), ValueError, "time cannot go back by 86400000 ms"),
        (lambda kafka: kafka.advance("7d"), TypeError, "how far is a timedelta or .*, not '7d'"),
        (lambda kafka: kafka.advance(days=float("nan")), ValueError, "days is a finite number"),
        (lambda kafka: kafka.advance(days=1e10), ValueError, "at most 999999999 days"),
        (lambda kafka: kafka.advance(days="7"), TypeError, "days is a number, not '7'"),
        (
            lambda kafka: kafka.advance(1, hours=1, ms=2),
            TypeError,
            "how far is given twice: by 1, and by hours, ms",
        ),
    ],
)
def test_what_is_no_way_forward_is_refused(
    by: Callable[[Emulator], None], kind: type[Exception], text: str
) -> None:
    with Emulator(clock="manual") as kafka, pytest.raises(kind, match=text):
        by(kafka)


def test_in_a_coroutine_the_loop_goes_on_meanwhile() -> None:
    passed: list[str] = []

    async def main(kafka: Emulator) -> None:
        ends = asyncio.Event()
        loop = asyncio.get_running_loop()

        def holds() -> None:  # in the broker's thread: the clock gets no further meanwhile
            loop.call_soon_threadsafe(ends.set)
            assert asyncio.run_coroutine_threadsafe(turn(), loop).result(LONG_S)

        async def turn() -> bool:
            passed.append("a turn of the loop")
            return True

        at(kafka, 1000, holds)
        await kafka.aadvance(days=1)
        assert ends.is_set()

    with Emulator(clock="manual") as kafka:
        begin = kafka.now
        asyncio.run(main(kafka))
        assert (kafka.now, passed) == (begin + DAY_MS, ["a turn of the loop"])
        with pytest.raises(ValueError, match="time cannot go back by 5 ms"):
            asyncio.run(kafka.aadvance(-0.005))
        trio.run(kafka.aadvance, 7)
        assert kafka.now == begin + DAY_MS + 7000


def test_a_coroutine_that_is_cancelled_leaves_the_clock_where_it_is() -> None:
    is_there = threading.Event()

    async def main(kafka: Emulator) -> None:
        begin = kafka.now

        def every_second() -> None:
            is_there.set()
            time.sleep(0.001)
            kafka.cluster.timers.at(kafka.cluster.clock.now() + 1000, every_second)

        at(kafka, 1000, every_second)
        moving = asyncio.create_task(kafka.aadvance(days=10_000))
        while not is_there.is_set():
            await asyncio.sleep(0.001)
        moving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await moving
        assert kafka.now < begin + 10_000 * DAY_MS

    with Emulator() as kafka:
        asyncio.run(main(kafka))
        before, seen, end = kafka.now, set(), time.monotonic() + LONG_S
        while len(seen) < 5 and time.monotonic() < end:  # it goes on by itself
            seen.add(kafka.now)
        assert len(seen) == 5
        assert max(seen) < before + DAY_MS


def test_a_clock_of_ones_own_is_moved_by_its_owner() -> None:
    class Mine:
        def now(self) -> int:
            return 1_600_000_000_000

    with Emulator(clock=Mine()) as kafka:
        with pytest.raises(TypeError, match="the clock of this broker is your own, and yours to"):
            kafka.advance(1)
        with pytest.raises(TypeError, match="is your own"), kafka.paused():
            raise AssertionError
        assert kafka.now == 1_600_000_000_000


def test_a_running_clock_goes_on_after_it_was_moved() -> None:
    rung = threading.Event()
    with Emulator() as kafka:
        at(kafka, DAY_MS + 20, rung.set)  # for which an alarm is set, of a day
        kafka.advance(days=1)
        assert rung.wait(LONG_S)
        before = kafka.now
        time.sleep(0.01)
        assert kafka.now > before


def test_a_fast_clock_fires_what_is_due_in_its_own_time() -> None:
    rung = threading.Event()
    with Emulator(clock=36_000) as kafka:
        begin = kafka.now
        at(kafka, 60 * 60 * 1000, rung.set)  # an hour: a tenth of a second
        assert rung.wait(LONG_S)
        assert kafka.now - begin >= 60 * 60 * 1000


def test_a_pause_holds_time_and_serves_requests() -> None:
    rung = threading.Event()
    with Emulator(topics={"t": 1}) as kafka:
        with kafka.paused():
            held = kafka.now
            at(kafka, 1, rung.set)
            with kafka.paused():
                kafka.topic("t").produce("served")
            assert not rung.wait(0.05)
            assert kafka.now == held
            assert kafka.topic("t").values() == [b"served"]
        assert rung.wait(LONG_S)


@pytest.mark.parametrize("clock", ["manual", "system", 3600])
def test_a_long_poll_waits_in_real_time_whatever_the_clock(clock: Any) -> None:
    with (
        Emulator(clock=clock, topics={"t": 1}) as kafka,
        Connection(kafka.bootstrap_servers) as client,
        kafka.paused(),
    ):
        begin = time.perf_counter()
        answer = client.ask(fetch_request(asked(), max_wait_ms=60, min_bytes=1), 12)
        assert 0.05 < time.perf_counter() - begin < LONG_S
        assert not only(answer).records


def test_a_session_ends_when_its_time_is_over_and_a_living_client_can_join_again() -> None:
    with (
        Emulator(clock="manual") as kafka,
        Connection(kafka.bootstrap_servers) as client,
    ):
        client.ask(FindCoordinatorRequest(key="g"), 2)
        stable(client)
        group = kafka.group("g")
        kafka.advance(seconds=9.999)
        assert len(group.members) == 1
        kafka.advance(ms=2)
        assert (group.members, group.state) == ((), "Empty")
        stable(client)
        assert len(group.members) == 1


def test_a_running_broker_that_is_moved_by_years_does_not_look_in_vain(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = 0
    run = LogManager.run

    def counted(manager: LogManager, now: int) -> bool:
        nonlocal runs
        runs += 1
        return run(manager, now)

    monkeypatch.setattr(LogManager, "run", counted)
    with Emulator(topics={"t": 1}) as kafka:
        kafka.topic("t").produce("x")
        kafka.advance(days=3650)
        assert kafka.topic("t").values() == []
        assert 0 < runs < 20


def test_what_is_compacted_on_the_way_is_compacted_in_its_own_time(tmp_path: Path) -> None:
    configs: dict[str, Any] = {
        "cleanup.policy": "compact",
        "segment.ms": 60_000,
        "min.cleanable.dirty.ratio": 0.01,
    }
    with Emulator({"log.cleaner.backoff.ms": 1000}, data_dir=tmp_path) as kafka:
        table = kafka.create_topic("table", configs=configs)
        for value in "12":
            table.produce(value, key="k")
        kafka.advance(minutes=2)
        table.produce("3", key="other")  # a new segment begins
        kafka.advance(minutes=2)
        assert table.by_key() == {b"k": b"2", b"other": b"3"}
        assert table.values() == [b"2", b"3"]
