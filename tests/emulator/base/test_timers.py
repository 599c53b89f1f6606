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
