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
from typing import TypeAlias

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


Fragment: TypeAlias = tuple[int, int, bool]
"""Its first step, its last, and whether it matches the empty text, wherever that is."""


class Program:
    """The steps of an expression, put together from fragments; it begins at step `start`."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.start = NOWHERE
        self.has_places = False

    def complete(self, whole: Fragment) -> None:
        """This is all of the expression."""
        self.start, last, _ = whole
        self.steps[last].next = self._add(Step(Kind.END))

    def one_of(self, characters: Characters) -> Fragment:
        """One character."""
        step = Step(Kind.CHARACTER)
        step.characters = characters
        number = self._add(step)
        return number, number, False

    def one_of_each(self, each: Iterable[Characters]) -> Fragment:
        """Characters of these kinds (one at least), one after the other."""
        first = number = len(self.steps)
        for characters in each:
            number += 1
            step = Step(Kind.CHARACTER, number)
            step.characters = characters
            self.steps.append(step)
        return first, number - 1, False

    def at(self, place: Place) -> Fragment:
        """No character, but only here."""
        self.has_places = True
        step = Step(Kind.PLACE)
        step.place = place
        number = self._add(step)
        return number, number, False

    def in_turn(self, parts: Sequence[Fragment]) -> Fragment:
        """One after the other."""
        if not parts:
            step = self._split(())
            return step, step, True
        first, before, is_optional = parts[0]
        for part in parts[1:]:
            self.steps[before].next = part[0]
            before = part[1]
            is_optional &= part[2]
        return first, before, is_optional

    def either(self, parts: Sequence[Fragment]) -> Fragment:
        """Any one of these."""
        if len(parts) == 1:
            return parts[0]
        branches, join = self._split([first for first, _, _ in parts]), self._split(())
        is_optional = False
        for part in parts:
            self.steps[part[1]].next = join
            is_optional |= part[2]
        return branches, join, is_optional

    def repeated(self, part: Fragment, low: int, high: int | None) -> Fragment:
        """So many times, one after the other; `high` of None has no end."""
        first, last, is_optional = part
        if is_optional:
            low = 0
        if high is None and low <= 1:
            loop = self._split((first,))
            self.steps[last].next = loop
            return (loop, loop, True) if low == 0 else (first, loop, False)
        if high == 0:
            return self.in_turn([])
        if high == 1:
            return part if low == 1 else self._optional(first, last)
        return self._counted(part, low, ANY_NUMBER if high is None else high)

    def _optional(self, first: int, last: int) -> Fragment:
        branch, join = self._split((first,)), self._split(())
        self.steps[branch].next = self.steps[last].next = join
        return branch, join, True

    def _counted(self, part: Fragment, low: int, high: int) -> Fragment:
        begin, again = Step(Kind.BEGIN), Step(Kind.AGAIN)
        begin.counts = min(0, 1 - low), high if high == ANY_NUMBER else high - 1
        begin.ways = again.ways = (part[0],)
        over = again.next = self._split(())
        if low == 0:
            begin.next = over
        self.steps[part[1]].next = self._add(again)
        return self._add(begin), over, low == 0

    def _split(self, ways: Sequence[int]) -> int:
        step = Step(Kind.SPLIT)
        step.ways = ways
        self.steps.append(step)
        return len(self.steps) - 1

    def _add(self, step: Step) -> int:
        self.steps.append(step)
        return len(self.steps) - 1
