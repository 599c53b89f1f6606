"""Looking up what expressions match among all topics: one lookup after the other, in slices.

Rules:
- A slice is about ten milliseconds of work. A lookup that takes longer goes on after a pause, so
  that the broker serves others in between.
- One lookup at a time is under way, so that the memory it takes is taken once; others wait. All
  that go on at the same moment share one slice.
- Where the clock stands still, as a manual one does, a request is what lets a lookup go on.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol, TypeAlias
from weakref import ReferenceType, ref

from .automaton import Portions, Work
from .re2 import InvalidRegex, compile_re2

SLICE = 5_000
PAUSE_MS = 20

_WORK_TO_READ_CHARACTER = 2


class Topics(Protocol):
    @property
    def version(self) -> int: ...

    def names(self) -> list[str]: ...


class Matches(NamedTuple):
    """The matches of each expression when the metadata was of that version."""

    topics: dict[str, frozenset[str]]
    version: int


Lookup: TypeAlias = Portions[Matches]
"""A lookup that has begun or is to begin. Who drops it gives it up."""


class Lookups:
    def __init__(self) -> None:
        self._work = Work(0)
        self._moment: int | None = None
        self._under_way: ReferenceType[Lookup] | None = None

    def new(self, expressions: Iterable[str], topics: Topics) -> Lookup:
        return _look_up(expressions, topics, self._work)

    def go_on(self, lookup: Lookup, now: int) -> Matches | None:
        """Do what may be done at this moment: what was found, or None if it is to go on after
        PAUSE_MS."""
        if now != self._moment:
            self.allow_slice()
            self._moment = now
        under_way = None if self._under_way is None else self._under_way()
        if self._work.left <= 0 or under_way not in (None, lookup):
            return None
        self._under_way = ref(lookup)
        try:
            next(lookup)
        except StopIteration as end:
            self._under_way = None
            found: Matches = end.value
            return found
        return None

    def stands_still(self, now: int) -> bool:
        """Whether no time has passed since the last slice."""
        return now == self._moment

    def allow_slice(self) -> None:
        """Let a slice of work be done now, even if one was done at this moment."""
        self._work.left = SLICE


def _look_up(expressions: Iterable[str], topics: Topics, work: Work) -> Lookup:
    version, names = topics.version, topics.names()
    found = {}
    for text in expressions:
        work.left -= len(text) * _WORK_TO_READ_CHARACTER
        try:
            pattern = compile_re2(text)
        except InvalidRegex:  # from the log of a broker that knew it: matches nothing here
            found[text] = frozenset[str]()
        else:
            found[text] = frozenset((yield from pattern.matching(names, work)))
    return Matches(found, version)
