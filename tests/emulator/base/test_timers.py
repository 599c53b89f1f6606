"""Timers fire in order, once, and never when cancelled."""

from __future__ import annotations

from functools import partial

from hypothesis import given
from hypothesis import strategies as st
from odradek.emulator.base.timers import Timers


def test_timers_fire_in_the_order_of_their_deadlines_then_of_their_making() -> None:
    timers, fired = Timers(), []
    for when, name in [(30, "c"), (10, "a"), (10, "b"), (40, "d")]:
        timers.at(when, partial(fired.append, name))
    timers.fire(29)
    assert fired == ["a", "b"]
    timers.fire(40)
    assert fired == ["a", "b", "c", "d"]
    assert timers.next() is None


def test_a_cancelled_timer_is_passed_over() -> None:
    timers, fired = Timers(), []
    first = timers.at(10, lambda: fired.append(1))
    timers.at(20, lambda: fired.append(2))
    first.cancel()
    assert timers.next() == 20
    timers.fire(100)
    first.cancel()
    assert fired == [2]


def test_a_timer_set_by_a_timer_fires_in_the_same_go_when_it_is_due() -> None:
    timers, fired = Timers(), []

    def begin() -> None:
        timers.at(15, lambda: fired.append("inner"))

    timers.at(10, begin)
    timers.fire(20)
    assert fired == ["inner"]


def test_the_owner_hears_of_an_earlier_deadline_only() -> None:
    timers, heard = Timers(), []
    timers.on_earlier = lambda: heard.append(timers.next())
    timers.at(50, lambda: None)
    timers.at(60, lambda: None)
    timers.at(40, lambda: None)
    assert heard == [50, 40]


def test_a_million_cancelled_waits_leave_nothing_behind() -> None:
    timers = Timers()
    for n in range(10_000):
        timers.at(10_000_000 + n, lambda: None).cancel()
    assert len(timers._heap) < 200


@given(st.lists(st.tuples(st.integers(0, 50), st.booleans())), st.integers(0, 50))
def test_just_what_is_due_and_not_cancelled_fires(
    entries: list[tuple[int, bool]], now: int
) -> None:
    timers, fired = Timers(), []
    for n, (when, cancelled) in enumerate(entries):
        timer = timers.at(when, partial(fired.append, n))
        if cancelled:
            timer.cancel()
    timers.fire(now)
    due = [
        (when, n) for n, (when, cancelled) in enumerate(entries) if when <= now and not cancelled
    ]
    assert fired == [n for _, n in sorted(due)]


class Every:
    """A check of something that is due at certain times; it finds each once."""

    def __init__(self, interval: int, *times: int) -> None:
        self.interval = interval
        self.times = list(times)
        self.runs: list[int] = []
        self.found: list[int] = []

    def interval_ms(self) -> int:
        return self.interval

    def run(self, now: int) -> bool:
        self.runs.append(now)
        due = [time for time in self.times if time <= now]
        self.times = [time for time in self.times if time > now]
        self.found += [now] * len(due)
        return bool(due)

    def due(self, now: int) -> int | None:
        return min(self.times, default=None)


def move(timers: Timers, end: int, *, leaves_out: bool = True) -> None:
    """Stop at each deadline on the way."""
    while True:
        if leaves_out:
            timers.skip_idle(end)
        when = timers.next()
        if when is None or when > end:
            return
        timers.fire(when)


def test_a_check_that_would_find_nothing_is_left_out() -> None:
    timers, check = Timers(), Every(10, 55, 1_000_003)
    timers.every(5, check)
    move(timers, 10**12)
    assert check.found == [55, 1_000_005]
    assert len(check.runs) <= 6
    assert timers.next() == 10**12 + 5


def test_a_change_runs_each_check_again() -> None:
    timers, check = Timers(), Every(10)
    timers.every(0, check)
    timers.at(1234, lambda: check.times.append(1300))
    move(timers, 5000)
    assert check.runs == [0, 1240, 1300, 1310]
    timers.changed()
    move(timers, 6000)
    assert check.runs[4:] == [5010]


def test_a_check_that_goes_on_failing_is_run_each_time() -> None:
    timers, check = Timers(), Every(10)
    check.due = lambda now: now  # type: ignore[method-assign]
    timers.every(0, check)
    move(timers, 100)
    assert check.runs == [*range(0, 101, 10)]


def test_a_cancelled_check_is_over() -> None:
    timers, check = Timers(), Every(10)
    repeated = timers.every(0, check)
    move(timers, 5)
    repeated.cancel()
    assert timers.next() is None
    assert len(timers) == 0


@given(
    st.lists(st.tuples(st.integers(1, 30), st.lists(st.integers(0, 500), max_size=4)), max_size=4),
    st.lists(st.tuples(st.integers(0, 500), st.integers(0, 3), st.integers(0, 200)), max_size=5),
)
def test_leaving_out_changes_nothing_that_is_found(
    drawn: list[tuple[int, list[int]]], events: list[tuple[int, int, int]]
) -> None:
    """Checks, and events that add to what one of them will find."""
    found = []
    for leaves_out in (True, False):
        timers, checks = Timers(), [Every(interval, *times) for interval, times in drawn]
        for check in checks:
            timers.every(check.interval, check)
        for when, number, later in events:
            if checks:
                times = checks[number % len(checks)].times
                timers.at(when, partial(times.append, when + later))
        move(timers, 600, leaves_out=leaves_out)
        found.append([check.found for check in checks])
    assert found[0] == found[1]


def test_timers_keep_their_distance_when_the_clock_is_set() -> None:
    timers, fired = Timers(), []
    for when, name in [(30, "b"), (10, "a"), (40, "c")]:
        timers.at(when, partial(fired.append, name))
    timers.shift(-100)
    assert timers.next() == -90
    timers.fire(-70)
    assert fired == ["a", "b"]
    timers.shift(1000)
    assert timers.next() == 940
