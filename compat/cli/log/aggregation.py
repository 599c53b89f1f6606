"""Events that repeat are summed up: the first ones of a kind have a line each, the
others by one line when they end, or each minute while they go on.

    412 more rebalances in 59.1 s, of 60 groups; most: billing-7 (31), billing-8 (30), a (12)

A kind that was summed up has lines of its own again after a minute in which it was not.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from ....emulator.base.event import Event
from ....emulator.base.words import lasted
from .levels import LogLine

ONE_BY_ONE = 3
PERIOD_S = 60.0
ENDED_S = 5.0
_NAMED = 3
_MOST_KINDS = 1_000
_MOST_PLACES = 10_000
_MOST_EVENTS = 100

NOUNS = {
    "and more": ("requests about very many topics", "clients"),
    "away": ("static members that left for a while", "groups"),
    "closed": ("clients that closed their last connections", "clients"),
    "connected": ("clients that connected", "clients"),
    "denied": ("requests that were denied", "clients"),
    "fenced": ("requests that were fenced", "requests"),
    "group empty": ("groups that became empty", "groups"),
    "kicked": ("members that were removed", "groups"),
    "members changed": ("changes of members", "groups"),
    "left behind": ("members that were left behind by their connections", "groups"),
    "log-in failed": ("log-ins that failed", "clients"),
    "logged in again": ("log-ins on connections that were open", "clients"),
    "malformed": ("connections that were closed because of what they sent", "clients"),
    "partitions added": ("topics that got more partitions", "topics"),
    "rebalance lasts": ("rebalances that last", "groups"),
    "rebalanced": ("rebalances", "groups"),
    "records deleted": ("deletions of records", "topics"),
    "refused": ("refusals", "requests"),
    "session timed out": ("members that timed out", "groups"),
    "throttled": ("requests that were throttled", "clients"),
    "topic created": ("topics that were created", "clients"),
    "topic deleted": ("topics that were deleted", "clients"),
    "transaction aborted": ("transactions that were aborted", "transactional ids"),
    "transaction timed out": ("transactions that timed out", "transactional ids"),
}
"""By the kind: what several are called, and of what they are counted."""

_BY_CLIENT = frozenset(
    {
        *("connected", "closed", "denied", "log-in failed", "logged in again"),
        *("malformed", "throttled", "topic created", "topic deleted"),
    }
)


def about(event: Event) -> str:
    if event.kind in ("refused", "fenced"):
        error = event.error.name if event.error is not None else ""
        return f"{event.client}: {event.api}, {error}"
    if event.kind in _BY_CLIENT:
        return event.client
    return event.group or event.transactional_id or event.topic or event.client


@dataclass(slots=True)
class _Kind:
    since: float
    single_lines: int = 0
    """How many it had in this period; of a kind that goes on as many as may be."""
    is_summed: bool = False
    """Whether there was a sum in this period."""
    counts: Counter[str] = field(default_factory=Counter)
    like: LogLine | None = None
    """The last one that was counted."""
    first: float = 0.0
    last: float = 0.0
    events: deque[tuple[Event, int, LogLine]] = field(
        default_factory=lambda: deque(maxlen=_MOST_EVENTS)
    )
    """Events whose count may still rise, with the count that is known."""

    def begin(self, at: float, single_lines: int = 0) -> None:
        self.since, self.single_lines, self.is_summed = at, single_lines, False

    def count(self, line: LogLine, at: float, number: int) -> None:
        if not self.counts:
            self.first = at
        self.last, self.like = at, line
        place = line.about if len(self.counts) < _MOST_PLACES or line.about in self.counts else ""
        self.counts[place] += number

    def count_risen(self, at: float) -> None:
        """An event that happens again is no new one: its count rises."""
        for index, (event, known, line) in enumerate(self.events):
            if (now := event.count) > known:
                self.count(line, at, now - known)
                self.events[index] = event, now, line


class Summing:
    def __init__(self, one_by_one: int = ONE_BY_ONE) -> None:
        self._one_by_one = one_by_one
        self._kinds: dict[str, _Kind] = {}

    def take(self, line: LogLine, at: float, event: Event | None = None) -> Iterator[LogLine]:
        """Something was said, at a time of a clock that only goes on, in s. Yields it if it has
        a line of its own. `event`: from which it was made, if its count may still rise."""
        key = line.key or line.kind
        kind = self._kinds.get(key)
        if kind is None:
            if len(self._kinds) >= _MOST_KINDS:
                del self._kinds[next(iter(self._kinds))]
            kind = self._kinds[key] = _Kind(at)
        elif at - kind.since >= PERIOD_S and not kind.counts:
            kind.begin(at)
        if event is not None:
            kind.events.append((event, line.times, line))
        if kind.single_lines < self._one_by_one:
            kind.single_lines += 1
            yield line
        else:
            kind.count(line, at, line.times)

    def due(self, at: float, now_ms: int) -> Iterator[LogLine]:
        """Sums of what has ended, or has gone on for a period."""
        for kind in self._kinds.values():
            kind.count_risen(at)
            if not kind.counts:
                continue
            if at - kind.since >= PERIOD_S:
                yield _sum(kind, now_ms)
                kind.begin(at, single_lines=self._one_by_one)
            elif at - kind.last >= ENDED_S and not kind.is_summed:
                yield _sum(kind, now_ms)
                kind.is_summed = True

    def all(self, at: float, now_ms: int) -> Iterator[LogLine]:
        """Sums of everything that has no line yet."""
        for kind in self._kinds.values():
            kind.count_risen(at)
            if kind.counts:
                yield _sum(kind, now_ms)


def _sum(kind: _Kind, now_ms: int) -> LogLine:
    """One line about everything that was counted, which is forgotten."""
    like, number, counts = kind.like, sum(kind.counts.values()), kind.counts
    assert like is not None
    if number == 1:
        counts.clear()
        return like._replace(time_ms=now_ms)
    noun, places = NOUNS.get(like.kind, (f'like "{like.sentence}"', ""))
    took = kind.last - kind.first
    text = f"{number:,} more {noun}" + (f" in {lasted(took)}" if took >= 1.0 else "")
    named = [(place, count) for place, count in counts.most_common(_NAMED) if place]
    if named and len(counts) == 1:
        text += f", all of {named[0][0]}"
    elif named and len(counts) < number:
        of = f", of {len(counts):,} {places}" if places else ""
        most = ", ".join(f"{place} ({count:,})" for place, count in named)
        text += f"{of}; most: {most}"
    counts.clear()
    return LogLine(now_ms, like.level, like.kind, text, times=number)
