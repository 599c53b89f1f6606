"""Beside freezegun and time-machine: the broker's time is real, or follows the test's by choice."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any

import pytest
from odradek import Emulator, TopicView, WaitTimeout
from odradek.compat.wire_client.waiting import Wait, polled_async
from odradek.emulator.cluster import Cluster
from odradek.wire.api.find_coordinator import FindCoordinatorRequest

from tests.requests.fetch import asked, fetch_request
from tests.requests.groups import stable
from tests.support.connection import Connection

freezegun = pytest.importorskip("freezegun")
time_machine = pytest.importorskip("time_machine")
pytestmark = pytest.mark.slow  # processes of their own, and real waits

THEN = "2020-01-01T00:00:00+00:00"
THEN_MS = 1_577_836_800_000
DAY_MS = 24 * 60 * 60 * 1000
LONG_S = 30.0


def by_freezegun() -> AbstractContextManager[Any]:
    frozen: AbstractContextManager[Any] = freezegun.freeze_time(THEN)
    return frozen


def by_time_machine() -> AbstractContextManager[Any]:
    frozen: AbstractContextManager[Any] = time_machine.travel(THEN, tick=False)
    return frozen


frozen_by = pytest.mark.parametrize("frozen", [by_freezegun, by_time_machine])
Frozen = Callable[[], AbstractContextManager[Any]]


def really_now_ms() -> float:
    """By a clock of the system's that neither replaces."""
    seconds = subprocess.run(["date", "+%s"], capture_output=True, text=True, check=True).stdout
    return int(seconds) * 1000


@frozen_by
@pytest.mark.parametrize("loop", ["uvloop", "asyncio"])
def test_frozen_time_freezes_nothing_of_the_broker(
    frozen: Frozen, loop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if loop == "asyncio":
        monkeypatch.setitem(sys.modules, "uvloop", None)
    rung = threading.Event()
    with frozen(), Emulator(topics={"t": 1}) as kafka:
        assert time.time() * 1000 == THEN_MS
        assert abs(kafka.now - really_now_ms()) < 10_000
        begin = kafka.now

        def later(cluster: Cluster) -> None:
            cluster.timers.at(cluster.clock.now() + 30, rung.set)

        kafka.run(later)
        assert rung.wait(LONG_S)
        assert kafka.now >= begin + 30
        with Connection(kafka.bootstrap_servers) as client:
            client.ask(fetch_request(asked(), max_wait_ms=30, min_bytes=1), 12)
        events = kafka.run(lambda cluster: cluster.journal.events())
        assert all(each.elapsed < LONG_S for each in events)


@frozen_by
def test_a_coroutine_waits_real_seconds(frozen: Frozen) -> None:
    """freezegun freezes the loop's clock too."""

    async def wait(orders: TopicView) -> None:
        with pytest.raises(WaitTimeout):
            await orders.await_for(1, timeout=0.05)
        await orders.aassert_nothing_produced(within=0.05)
        with pytest.raises(WaitTimeout):
            await polled_async(Wait("nothing", lambda: None, str), 0.05, every=0.01)

    with frozen(), Emulator(topics={"orders": 1}) as kafka:
        waiting = threading.Thread(target=asyncio.run, args=(wait(kafka.topic("orders")),))
        waiting.daemon = True  # should it wait for ever
        waiting.start()
        waiting.join(LONG_S)
        assert not waiting.is_alive()


@frozen_by
def test_a_broker_that_runs_already_goes_on(frozen: Frozen) -> None:
    with Emulator() as kafka:
        before = kafka.now
        with frozen():
            assert 0 <= kafka.now - before < 10_000
        assert 0 <= kafka.now - before < 10_000


@pytest.mark.parametrize(
    "frozen",
    [
        'import freezegun; freezegun.freeze_time("2020-01-01").start()',
        'import time_machine; time_machine.travel("2020-01-01", tick=False).start()',
        "import time; time.monotonic = time.perf_counter = time.time = lambda: 1577836800.0",
    ],
)
def test_a_broker_that_is_imported_in_frozen_time_runs(frozen: str) -> None:
    text = f"""
import sys
{frozen}
sys.modules["uvloop"] = None
from odradek import Emulator
with Emulator() as kafka:
    begin = kafka.now
    while kafka.now < begin + 20:
        pass
    import time
    assert time.time() == {THEN_MS / 1000}
    print(begin)
"""
    ended = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=300
    )
    assert ended.returncode == 0, ended.stderr
    if "lambda" not in frozen:  # who replaces time.time itself may keep no other
        assert abs(int(ended.stdout) - really_now_ms()) < 60_000


def freezegun_moved(frozen: Any, by: timedelta) -> None:
    frozen.tick(by)


def time_machine_moved(frozen: Any, by: timedelta) -> None:
    frozen.shift(by)


@pytest.mark.parametrize(
    ("frozen", "move"),
    [(by_freezegun, freezegun_moved), (by_time_machine, time_machine_moved)],
)
def test_a_clock_follows_the_tests_time(
    frozen: Frozen, move: Callable[[Any, timedelta], None]
) -> None:
    found: list[int] = []
    with frozen() as moved, Emulator(clock="test") as kafka:
        orders = kafka.create_topic("orders", configs={"retention.ms": 7 * DAY_MS})
        orders.produce("old")
        assert kafka.now == orders.last().timestamp == THEN_MS

        def later(cluster: Cluster) -> None:
            cluster.timers.at(THEN_MS + 1000, lambda: found.append(cluster.clock.now()))

        kafka.run(later)
        move(moved, timedelta(days=8))
        assert kafka.now == THEN_MS + 8 * DAY_MS
        assert found == [THEN_MS + 1000]
        assert orders.values() == []


@frozen_by
def test_a_request_of_a_client_finds_what_the_time_has_done(frozen: Frozen) -> None:
    moves = freezegun_moved if frozen is by_freezegun else time_machine_moved
    with (
        frozen() as moved,
        Emulator(clock="test") as kafka,
        Connection(kafka.bootstrap_servers) as client,
    ):
        client.ask(FindCoordinatorRequest(key="g"), 2)
        first = stable(client)
        moves(moved, timedelta(seconds=11))  # its session is over, before it asks again
        second = stable(client)
        assert second.member_id != first.member_id
        (member,) = kafka.group("g").members
        assert member.member_id == second.member_id


def test_a_clock_that_follows_needs_no_request() -> None:
    rung = threading.Event()
    with freezegun.freeze_time(THEN) as frozen, Emulator(clock="test") as kafka:
        kafka.run(lambda cluster: cluster.timers.at(THEN_MS + DAY_MS, rung.set))
        frozen.tick(timedelta(days=1))
        assert rung.wait(LONG_S)


def test_a_clock_that_follows_is_not_moved_otherwise() -> None:
    with Emulator(clock="test") as kafka:
        assert abs(kafka.now - really_now_ms()) < 10_000  # the test's time is real
        with pytest.raises(TypeError, match="follows the test's time"):
            kafka.advance(1)
        with kafka.paused():
            held = kafka.now
            time.sleep(0.02)
            assert kafka.now == held
        assert kafka.now > held
