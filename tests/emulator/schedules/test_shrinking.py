"""A schedule that fails is shrunk to the least that does."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from odradek.emulator.schedules import Misfortune, Schedule
from odradek.emulator.schedules.shrinking import Outcome, Shrinking, Shrunk

Some = tuple[Misfortune, ...]
A, B, C, D, E = (Misfortune("Produce", number, "disconnect") for number in range(1, 6))
KILL = Misfortune("EndTxn", 1, "kill", "after")
SLOW = Misfortune("Fetch", 1, "delay", seconds=0.4)


def shrink(first: Some, fails: Callable[[Some], str], **more: int) -> Shrunk[None]:
    def run(schedule: Schedule) -> Outcome[None]:
        return Outcome(fails(schedule.misfortunes), schedule.misfortunes, None)

    return Shrinking(Outcome("wrong", first, None), run, **more).shrink()


@pytest.mark.parametrize("needed", [(A,), (A, E), (B, D), (A, B, C, D, E)])
def test_what_is_needed_is_left(needed: Some) -> None:
    found = shrink((A, B, C, D, E), lambda each: "wrong" if {*needed} <= {*each} else "")
    assert found.schedule.misfortunes == needed
    assert (found.tries, found.is_given_up) == (1, False)


def test_each_is_made_smaller() -> None:
    whats = {"kill", "disconnect"}
    found = shrink(
        (SLOW, KILL),
        lambda each: "wrong" if len(each) == 2 and each[1].what in whats else "",
    )
    slow, ended = found.schedule.misfortunes
    assert (slow.seconds <= 0.02, ended.what, ended.when) == (True, "disconnect", "after")


def test_another_failure_does_not_count() -> None:
    found = shrink((A, B), lambda each: "wrong" if A in each else "otherwise")
    assert found.schedule.misfortunes == (A,)


def test_what_fails_without_any() -> None:
    assert shrink((A, B), lambda _: "wrong").schedule.misfortunes == ()
    assert shrink((), lambda _: "").runs == 0


def test_what_did_not_happen_is_left_out() -> None:
    def run(schedule: Schedule) -> Outcome[None]:
        there = schedule.misfortunes
        happened = tuple(each for each in there if each is not B)
        return Outcome("wrong" if {A, C} <= {*there} else "", happened, None)

    found = Shrinking(Outcome("wrong", (A, B, C, D), None), run).shrink()
    assert found.schedule.misfortunes == (A, C)


def test_what_fails_now_and_then_is_tried_again() -> None:
    random = Random(1)

    def fails(each: Some) -> str:
        return "wrong" if A in each and random.random() < 0.7 else ""

    assert shrink((A, B, C), fails).schedule.misfortunes == (A,)


def test_it_ends() -> None:
    found = shrink((A, B, C, D, E), lambda each: "wrong" if len(each) == 5 else "", most_runs=7)
    assert (found.runs, found.is_given_up) == (7, True)
    assert len(found.schedule.misfortunes) == 5
