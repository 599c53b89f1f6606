"""The shortest list of events that shows a finding: the last ones that do, then without halves,
quarters, ... of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from .arena import Setup
from .events import Case, Event
from .replay import replayed

Shows = Callable[[list[Event]], bool]
_WITHOUT_END = frozenset({"died", "failed", "hang", "unanswered", "unasked", "undecodable"})
_WITH_POLITE = frozenset({"polite", "restart"})


def shrunk(case: Case, setup: Setup, seconds: float) -> Case:
    """A case with fewer events that shows the same, as far as it is found within that time; the
    same case if it cannot be shown again."""
    kind, place = case.finding.kind, case.finding.place
    setup = replace(setup, has_polite=kind in _WITH_POLITE, ends=kind not in _WITHOUT_END)
    if kind == "hang":
        setup = replace(setup, hang_s=min(setup.hang_s, 3.0))

    def shows(events: list[Event]) -> bool:
        return any((f.kind, f.place) == (kind, place) for f in replayed(events, setup))

    return replace(case, events=fewer(case.events, shows, time.monotonic() + seconds))


def fewer(events: list[Event], shows: Shows, until: float) -> list[Event]:
    """The fewest events that were found to show it before the time is up."""
    count = 1
    while count < len(events) and not shows(events[-count:]):
        count *= 4
    best = events[-count:]
    if count >= len(events) and not shows(events):
        return events
    size = len(best) // 2
    while size and time.monotonic() < until:
        at = 0
        while at < len(best) and time.monotonic() < until:
            rest = best[:at] + best[at + size :]
            if rest and shows(rest):
                best = rest
            else:
                at += size
        size //= 2
    return best
