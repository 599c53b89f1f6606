"""A rebalance is one line that says who moved; one that does not end is told while it lasts."""

from __future__ import annotations

from typing import Any

from odradek.compat.cli.log.event_log import LASTS_S, NONE_S, Digest
from odradek.emulator.base.clock import ManualClock
from odradek.emulator.base.event import Event
from odradek.emulator.base.journal import Journal


class RebalanceLog:
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
    log = RebalanceLog()
    for name in ("a", "b", "c", "d", "e"):
        log("joined", name)
    log("left", "z", members=5)
    log("rebalance begun", reason="a member joined")
    log("rebalance begun", reason="a member left")
    log("rebalance finished", generation=7, members=5)
    assert log.lines == [
        "group g rebalanced at once (a, b, c and 2 more joined, z left): generation 7, 5 members"
    ]


def test_without_a_member_that_moved_the_reason_is_reported() -> None:
    log = RebalanceLog()
    log("rebalance begun", reason="its subscriptions or their topics changed")
    log("rebalance finished", generation=2, members=1)
    assert log.lines == [
        "group g rebalanced at once (its subscriptions or their topics changed): "
        "generation 2, 1 member"
    ]


def test_a_member_that_expires_is_reported_at_once_and_as_the_reason() -> None:
    log = RebalanceLog()
    log("session timed out", "a", "no heartbeat for 10 s", members=1)
    log("rebalance begun", reason="a member's session timed out")
    log("rebalance finished", generation=3, members=1)
    assert log.lines == [
        "a was removed from group g: no heartbeat for 10 s (1 member remaining)",
        "group g rebalanced at once (a timed out): generation 3, 1 member",
    ]


def test_a_rebalance_that_does_not_end_is_reported_once() -> None:
    log = RebalanceLog()
    log("joined", "a")
    log("rebalance begun", reason="a member joined")
    log.wait(LASTS_S - 1)
    assert log.lines == []
    log.wait(1)
    log.wait(60)
    assert log.lines == ["group g has been rebalancing for 30 s: a joined"]


def test_members_of_a_group_that_never_rebalances_are_reported() -> None:
    log = RebalanceLog()
    log("joined", "a")
    log("left", "b", members=1)
    log.wait(NONE_S)
    log.wait(NONE_S)
    assert log.lines == ["group g: a joined, b left"]


def test_a_group_that_everybody_has_left_is_empty() -> None:
    log = RebalanceLog()
    log("left", "a", members=0)
    log("rebalance begun", reason="a member left")
    assert log.lines == ["group g is empty: a left"]
