"""What an expression is compiled into: steps that lead to one another.

There is one step for each character or class that is written, whatever repetitions stand around
it: counted repetitions are not unrolled, they count when the expression is followed. A fragment is
a part of an expression: where it begins, and the step whose `next` is still open. Steps name each
other by number, so that positions are nothing but numbers.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from enum import IntEnum, auto
from typing import NamedTuple

from .characters import Characters

ANY_NUMBER = sys.maxsize
NOWHERE = -1


class Kind(IntEnum):
    """What a step does."""

    CHARACTER = auto()  # take one of `characters`
    SPLIT = auto()  # go on at each of `ways`, and at `next` if there is one
    PLACE = auto()  # go on if this is such a place in the text
    BEGIN = auto()  # begin to count repetitions of `ways`; or go on at `next`, if there is one
    AGAIN = auto()  # one of them is over: go on at `ways` or at `next`, by what was counted
    END = auto()  # all of the expression is done


class Place(IntEnum):
    """A place between two characters."""

    BEGIN_TEXT = auto()
    END_TEXT = auto()
    BEGIN_LINE = auto()
    END_LINE = auto()
    WORD_BOUNDARY = auto()
    NO_WORD_BOUNDARY = auto()


class Step:
    """One step; which of the fields mean something depends on its kind."""

    __slots__ = ("characters", "counts", "kind", "next", "place", "ways")

    characters: Characters
    place: Place
    ways: Sequence[int]
    # Of BEGIN: how many repetitions are owed after the first, as a number below 0, and how many
    # there may be after it.
    counts: tuple[int, int]

    def __init__(self, kind: Kind, next_step: int = NOWHERE) -> None:
        self.kind = kind
        self.next = next_step


class Fragment(NamedTuple):
    """A part of an expression. `is_optional`: it matches the empty text, wherever that is."""

    first: int
    last: int
    is_optional: bool


class Program:
    """The steps of an expression, put together from fragments; it begins at step `start`."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.start = NOWHERE
        self.has_places = False

    def complete(self, whole: Fragment) -> None:
        """This is all of the expression."""
        self.start = whole.first
        self._lead(whole.last, self._add(Step(Kind.END)))

    def characters(self, each: Iterable[Characters]) -> Fragment:
        """Characters of these kinds (one at least), one after the other."""
        first = len(self.steps)
        for characters in each:
            step = Step(Kind.CHARACTER, len(self.steps) + 1)
            step.characters = characters
            self.steps.append(step)
        return Fragment(first, len(self.steps) - 1, False)

    def at(self, place: Place) -> Fragment:
        """No character, but only here."""
        self.has_places = True
        step = Step(Kind.PLACE)
        step.place = place
        number = self._add(step)
        return Fragment(number, number, False)

    def in_turn(self, parts: Sequence[Fragment]) -> Fragment:
        """One after the other."""
        if not parts:
            step = self._split(())
            return Fragment(step, step, True)
        before = parts[0].last
        for part in parts[1:]:
            self._lead(before, part.first)
            before = part.last
        return Fragment(parts[0].first, before, all(part.is_optional for part in parts))

    def either(self, parts: Sequence[Fragment]) -> Fragment:
        """Any one of these."""
        if len(parts) == 1:
            return parts[0]
        first, join = self._split([part.first for part in parts]), self._split(())
        for part in parts:
            self._lead(part.last, join)
        return Fragment(first, join, any(part.is_optional for part in parts))

    def repeated(self, part: Fragment, low: int, high: int | None) -> Fragment:
        """So many times, one after the other; `high` of None has no end."""
        if part.is_optional:
            low = 0
        if high == 0:
            return self.in_turn([])
        if high == 1:
            return part if low == 1 else self._optional(part)
        if high is None and low <= 1:
            loop = self._split([part.first])
            self._lead(part.last, loop)
            return Fragment(loop if low == 0 else part.first, loop, low == 0)
        return self._counted(part, low, ANY_NUMBER if high is None else high)

    def _optional(self, part: Fragment) -> Fragment:
        first, join = self._split([part.first]), self._split(())
        self._lead(first, join)
        self._lead(part.last, join)
        return Fragment(first, join, True)

    def _counted(self, part: Fragment, low: int, high: int) -> Fragment:
        begin, again = Step(Kind.BEGIN), Step(Kind.AGAIN)
        begin.counts = min(0, 1 - low), high if high == ANY_NUMBER else high - 1
        begin.ways = again.ways = (part.first,)
        over = again.next = self._split(())
        if low == 0:
            begin.next = over
        self._lead(part.last, self._add(again))
        return Fragment(self._add(begin), over, low == 0)

    def _add(self, step: Step) -> int:
        self.steps.append(step)
        return len(self.steps) - 1

    def _split(self, ways: Sequence[int]) -> int:
        step = Step(Kind.SPLIT)
        step.ways = ways
        return self._add(step)

    def _lead(self, number: int, target: int) -> None:
        self.steps[number].next = target
