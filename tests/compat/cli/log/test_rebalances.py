"""A rebalance is one line that says who moved; one that does not end is told while it lasts."""

from __future__ import annotations

from typing import Any

from odradek.compat.cli.log.event_log import LASTS_S, NONE_S, Digest
from odradek.emulator.base.clock import ManualClock
from odradek.emulator.base.event import Event
from odradek.emulator.base.journal import Journal


class Told:
    """The lines about a group, without the times that they took."""

    def __init__(self) -> None:
        self._digest = Digest()
        self._journal = Journal(ManualClock(0))
        self._journal.on_event = self._take
        self.now = 0.0
        self.lines: list[str] = []

    def __call__(self, kind: str, client: str = "", reason: str = "", **details: Any) -> None:
        self._journal.add(kind, client=client, group="g", reason=reason, details=details)

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.lines += [each.sentence for each in self._digest.due(self.now, 0)]

    def _take(self, event: Event) -> None:
        self.lines += [
            each.sentence.replace("in 1 ms", "at once")
            for each in self._digest.take(event, self.now)
        ]


def test_who_joined_and_left_is_in_the_line_of_the_rebalance() -> None:
    told = Told()
    for name in ("a", "b", "c", "d", "e"):
        told("joined", name)
    told("left", "z", members=5)
    told("rebalance begun", reason="a member joined")
    told("rebalance begun", reason="a member left")
    told("rebalance finished", generation=7, members=5)
    assert told.lines == [
        "group g rebalanced at once (a, b, c and 2 more joined, z left): generation 7, 5 members"
    ]


def test_without_a_member_that_moved_the_reason_is_told() -> None:
    told = Told()
    told("rebalance begun", reason="its subscriptions or their topics changed")
    told("rebalance finished", generation=2, members=1)
    assert told.lines == [
        "group g rebalanced at once (its subscriptions or their topics changed): "
        "generation 2, 1 member"
    ]


def test_a_member_that_expires_is_told_at_once_and_as_the_reason() -> None:
    told = Told()
    told("session timed out", "a", "no heartbeat for 10 s", members=1)
    told("rebalance begun", reason="a member's session timed out")
    told("rebalance finished", generation=3, members=1)
    assert told.lines == [
        "a was removed from group g: no heartbeat for 10 s (1 member remaining)",
        "group g rebalanced at once (a timed out): generation 3, 1 member",
    ]


def test_a_rebalance_that_does_not_end_is_told_once() -> None:
    told = Told()
    told("joined", "a")
    told("rebalance begun", reason="a member joined")
    told.wait(LASTS_S - 1)
    assert told.lines == []
    told.wait(1)
    told.wait(60)
    assert told.lines == ["group g has been rebalancing for 30 s: a joined"]


def test_members_of_a_group_that_never_rebalances_are_told() -> None:
    told = Told()
    told("joined", "a")
    told("left", "b", members=1)
    told.wait(NONE_S)
    told.wait(NONE_S)
    assert told.lines == ["group g: a joined, b left"]


def test_a_group_that_everybody_has_left_is_empty() -> None:
    told = Told()
    told("left", "a", members=0)
    told("rebalance begun", reason="a member left")
    assert told.lines == ["group g is empty: a left"]
