"""A rebalance in one line: what members did, when it began and when it ended are told at its end.

A rebalance that lasts longer than `LASTS_S` is told while it lasts, once. A group whose last member
has left is told as empty: no rebalance follows. Members of a group that never rebalances, such as a
share group, are told after `NONE_S`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ....emulator.base.event import Event
from ....emulator.base.words import lasted, number_of
from .levels import Said, level_of

LASTS_S = 30.0
NONE_S = 5.0
_MOST_GROUPS = 10_000
_MOST_MEMBERS = 10_000
_MOST_NAMES = 3
_CAME = {"joined": "joined"}
_GONE = {
    "left": "left",
    "away": "left for a while",
    "kicked": "was removed",
    "session timed out": "timed out",
}


@dataclass(slots=True)
class _Round:
    """What has happened to a group since its last rebalance."""

    moved: dict[str, list[str]] = field(default_factory=dict)
    """What members did -> their names."""
    since: float = 0.0
    """When the first of them did it."""
    reason: str = ""
    begun: float | None = None
    """When the rebalance began, by the time that `take` is given; None if none has begun."""
    elapsed: float = 0.0
    is_told: bool = False

    def why(self) -> str:
        """Who moved, or else the reason that the coordinator gave."""
        parts = [f"{_names(names)} {what}" for what, names in self.moved.items()]
        return (
            ", ".join(parts) or self.reason or "its members' subscriptions or assignments changed"
        )


class Rebalances:
    """The rounds of all groups."""

    def __init__(self) -> None:
        self._rounds: dict[str, _Round] = {}

    def take(self, event: Event, at: float) -> Iterator[Said]:
        """What an event of a group makes known; `at`: seconds of a clock that only goes on."""
        what = _CAME.get(event.kind) or _GONE.get(event.kind)
        if what is not None:
            yield from self._moved(event, what, at)
        elif event.kind == "rebalance begun":
            round = self._round(event.group)
            if round.begun is None:
                round.begun, round.elapsed, round.reason = at, event.elapsed, event.reason
        elif event.kind == "rebalance finished":
            round = self._rounds.pop(event.group, _Round(elapsed=event.elapsed))
            took = max(event.elapsed - round.elapsed, 0.0)
            members = number_of(event.details.get("members", 0), "member")
            sentence = (
                f"group {event.group} rebalanced in {lasted(took)} ({round.why()}): "
                f"generation {event.details.get('generation')}, {members}"
            )
            yield _said(event, "rebalanced", sentence)

    def due(self, at: float, now_ms: int) -> Iterator[Said]:
        """Rebalances that last long, and members that moved without one."""
        for group, round in list(self._rounds.items()):
            if round.begun is None and at - round.since >= NONE_S:
                del self._rounds[group]
                kind = "members changed"
                yield Said(now_ms, level_of(kind), kind, f"group {group}: {round.why()}", group)
            if round.begun is None or round.is_told or at - round.begun < LASTS_S:
                continue
            round.is_told = True
            sentence = (
                f"group {group} has been rebalancing for {at - round.begun:.0f} s: {round.why()}"
            )
            kind = "rebalance lasts"
            yield Said(now_ms, level_of(kind), kind, sentence, group)

    def _moved(self, event: Event, what: str, at: float) -> Iterator[Said]:
        if event.kind in _GONE and event.details.get("members") == 0:
            self._rounds.pop(event.group, None)
            yield _said(
                event, "group empty", f"group {event.group} is empty: {event.client} {what}"
            )
            return
        round = self._round(event.group)
        if not round.moved:
            round.since = at
        names = round.moved.setdefault(what, [])
        if len(names) < _MOST_MEMBERS:
            names.append(event.client)

    def _round(self, group: str) -> _Round:
        round = self._rounds.get(group)
        if round is None:
            if len(self._rounds) >= _MOST_GROUPS:
                del self._rounds[next(iter(self._rounds))]
            round = self._rounds[group] = _Round()
        return round


def _names(names: list[str]) -> str:
    """As in "a, b and c", "a, b, c and 4 more"."""
    named = [each or "a member" for each in names]
    if len(named) > _MOST_NAMES:
        return f"{', '.join(named[:_MOST_NAMES])} and {len(named) - _MOST_NAMES:,} more"
    return " and ".join(filter(None, [", ".join(named[:-1]), named[-1]]))


def _said(event: Event, kind: str, sentence: str) -> Said:
    return Said(event.time, level_of(kind), kind, sentence, event.group)
