"""Matching a regular expression in time that grows with the text, whatever the expression.

All ways through an expression are followed at once (Thompson's construction), character by
character; what was found once, the next text with the same beginning does not look for again (a
deterministic automaton, made while it is used). Only whether all of a text matches is found out,
which is what subscriptions ask.

- A position is the number of a step and, for each counted repetition around it, how many are still
  owed (a number below 0) and how many more there may be. So `(x{9}){9}` is not unrolled, and of
  positions at one step only those count that no other surpasses in all its counts.
- A repetition that took no character pays all that is owed: it could be had again and again.
- Places such as `^` and `\\b` are decided when the next character is known.
- Work is done in portions, at the end of each of which the caller may do something else.
- What is known is forgotten when it becomes too much. Whatever needs too many positions at once
  is given up: it matches nothing.

An expression is compiled into steps that lead to one another. There is one step for each character
or class that is written, whatever repetitions stand around it: counted repetitions are not
unrolled, they count when the expression is followed. A fragment is a part of an expression: where
it begins, and the step whose `next` is still open. Steps name each other by number, so that
positions are nothing but numbers.

Source: Ken Thompson, "Regular expression search algorithm", 1968; RE2.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable, Sequence
from enum import IntEnum, auto
from operator import ge
from typing import NamedTuple, TypeAlias, TypeVar

from ...base.logger import log
from .characters import Characters

POSITIONS_MAX = 100_000
KNOWN_MAX = 200_000
"""Positions at once, and in all that is kept; each of its counts is one more."""

CHARACTERS_A_UNIT = 16
_COMPARED = 16

Counts = tuple[int, ...]
Position = tuple[int, Counts]
Result = TypeVar("Result")
Portions: TypeAlias = Generator[None, None, Result]
"""Work in portions: it yields at the end of each, and returns what was found."""


class Work:
    """How much may still be done in this portion. A unit is about a microsecond."""

    __slots__ = ("left",)

    def __init__(self, left: int) -> None:
        self.left = left


class Neighbour(IntEnum):
    """The character class on one side of a place."""

    NOTHING = auto()
    NEWLINE = auto()
    WORD = auto()
    OTHER = auto()


class TooLarge(Exception):
    """The expression needs too many positions at once."""


class Reached(NamedTuple):
    """Where one gets without a character."""

    positions: list[Position]
    is_end: bool


class State:
    """A state of the deterministic automaton: what was reached by a text."""

    __slots__ = ("before", "is_end", "next", "reached", "taken")

    def __init__(self, taken: tuple[Position, ...], before: Neighbour) -> None:
        self.taken = taken
        self.before = before
        # None: no text that goes on so matches.
        self.next: dict[str, State | None] = {}
        self.reached: dict[Neighbour, Reached] = {}
        self.is_end: bool | None = None


class Automaton:
    def __init__(self, expression: str, program: Program) -> None:
        self._expression = expression
        self._program = program
        self._steps = program.steps
        self._states: dict[object, State] = {}
        self._known = 0

    def fullmatch(self, text: str) -> bool:
        portions = self.matching([text], Work(sys.maxsize))
        while True:
            try:
                next(portions)
            except StopIteration as end:
                return bool(end.value)

    def matching(self, texts: Iterable[str], work: Work) -> Portions[list[str]]:
        """Those of the texts that match. It yields when no work is left, and goes on when `work`
        was given more."""
        found: list[str] = []
        for text in texts:
            try:
                matches = yield from self._matches(text, work)
            except TooLarge:
                log.warning("%.100r needs too many states: it matches nothing", self._expression)
                return []
            if matches:
                found.append(text)
        return found

    def _matches(self, text: str, work: Work) -> Portions[bool]:
        state = self._state((), Neighbour.NOTHING)
        work.left -= 1 + len(text) // CHARACTERS_A_UNIT
        if work.left <= 0:
            yield
        for char in text:
            if char not in state.next:
                state.next[char] = yield from self._after(state, char, work)
                self._known += 1
                if work.left <= 0:
                    yield
            following = state.next[char]
            if following is None:
                return False
            state = following
        if state.is_end is None:
            state.is_end = (yield from self._reach(state, Neighbour.NOTHING, work)).is_end
        return state.is_end

    def _after(self, state: State, char: str, work: Work) -> Portions[State | None]:
        beside = self._beside(char)
        reached = yield from self._reach(state, beside, work)
        work.left -= len(reached.positions) // 2
        steps = self._steps
        taken = tuple(each for each in reached.positions if char in steps[each[0]].characters)
        return self._state(taken, beside) if taken else None

    def _beside(self, char: str) -> Neighbour:
        if not self._program.has_places:
            return Neighbour.NOTHING
        if char == "\n":
            return Neighbour.NEWLINE
        return (
            Neighbour.WORD
            if char == "_" or (char.isascii() and char.isalnum())
            else Neighbour.OTHER
        )

    def _state(self, taken: tuple[Position, ...], before: Neighbour) -> State:
        if self._known > KNOWN_MAX:
            self._states.clear()
            self._known = 0
        key = frozenset(taken), before
        state = self._states.get(key)
        if state is None:
            state = self._states[key] = State(taken, before)
            self._known += sum(_size(position) for position in taken)
        return state

    def _reach(self, state: State, after: Neighbour, work: Work) -> Portions[Reached]:
        """Where one gets from a state without a character, knowing what comes after."""
        known = state.reached.get(after)
        if known is not None:
            return known
        walk = _Walk(self._program, state, after)
        while walk.left:
            work.left -= walk.go_on(work.left)
            if work.left <= 0:
                yield
        found = state.reached[after] = walk.found()
        self._known += sum(_size(position) for position in found.positions)
        return found


class _Walk:
    """From some positions to all that are reached without a character."""

    def __init__(self, program: Program, state: State, after: Neighbour) -> None:
        steps = self._steps = program.steps
        self._before, self._after = state.before, after
        # Each with the number of counts that were begun before: a repetition that is counted by
        # others has taken no character.
        self.left = [(steps[taken].next, counts, len(counts)) for taken, counts in state.taken]
        if not state.taken:
            self.left.append((program.start, (), 0))
        self._seen: set[tuple[int, Counts, int]] = set()
        self._size = 0
        self._found: dict[int, list[Counts]] = {}
        self._is_end = False

    def go_on(self, most: int) -> int:
        """Take steps until so much work is done, or a little more; return how much it was. Raises
        TooLarge."""
        done = 0
        while self.left and done < most:
            place = self.left.pop()
            done += 1
            if place not in self._seen:
                self._seen.add(place)
                self._take(*place)
                done += len(place[1])
                self._size += 1 + len(place[1])
        if self._size > POSITIONS_MAX:
            raise TooLarge
        return done

    def found(self) -> Reached:
        positions = [(number, counts) for number, front in self._found.items() for counts in front]
        return Reached(positions, self._is_end)

    def _take(self, number: int, counts: Counts, begun: int) -> None:
        step = self._steps[number]
        match step.kind:
            case Kind.CHARACTER:
                self._add(number, counts)
                return
            case Kind.SPLIT:
                self.left += [(way, counts, begun) for way in step.ways]
            case Kind.PLACE:
                if not self._is_at(step.place):
                    return
            case Kind.BEGIN:
                self.left.append((step.ways[0], counts + step.counts, begun))
            case Kind.AGAIN:
                self._again(step, counts, begun)
                return
            case Kind.END:
                self._is_end = True
        if step.next != NOWHERE:
            self.left.append((step.next, counts, begun))

    def _again(self, step: Step, counts: Counts, begun: int) -> None:
        outer, owed, more = counts[:-2], counts[-2], counts[-1]
        took_nothing = len(counts) > begun
        begun = min(begun, len(outer))
        if took_nothing or owed == 0:
            self.left.append((step.next, outer, begun))
        if more > 0 and not (took_nothing and owed == 0):
            owed = 0 if took_nothing else min(0, owed + 1)
            more = more if more == ANY_NUMBER else more - 1
            self.left.append((step.ways[0], (*outer, owed, more), begun))

    def _add(self, number: int, counts: Counts) -> None:
        """Note a position, unless another surpasses it; and drop those that it surpasses. Where
        there are many, only the last are compared."""
        front = self._found.setdefault(number, [])
        last = front[-_COMPARED:]
        for other in last:
            if all(map(ge, other, counts)):
                return
        front[-_COMPARED:] = [other for other in last if not all(map(ge, counts, other))]
        front.append(counts)

    def _is_at(self, place: Place) -> bool:
        before, after = self._before, self._after
        match place:
            case Place.BEGIN_TEXT:
                return before is Neighbour.NOTHING
            case Place.END_TEXT:
                return after is Neighbour.NOTHING
            case Place.BEGIN_LINE:
                return before in (Neighbour.NOTHING, Neighbour.NEWLINE)
            case Place.END_LINE:
                return after in (Neighbour.NOTHING, Neighbour.NEWLINE)
        is_boundary = (before is Neighbour.WORD) != (after is Neighbour.WORD)
        return is_boundary == (place is Place.WORD_BOUNDARY)


def _size(position: Position) -> int:
    return 1 + len(position[1])


ANY_NUMBER = sys.maxsize
NOWHERE = -1


class Kind(IntEnum):
    CHARACTER = auto()  # take one of `characters`
    SPLIT = auto()  # go on at each of `ways`, and at `next` if there is one
    PLACE = auto()  # go on if this is such a place in the text
    BEGIN = auto()  # begin to count repetitions of `ways`; or go on at `next`, if there is one
    AGAIN = auto()  # one of them is over: go on at `ways` or at `next`, by what was counted
    END = auto()  # all of the expression is done


class Place(IntEnum):
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
        self.start, last, _ = whole
        self.steps[last].next = self._add(Step(Kind.END))

    def one_of(self, characters: Characters) -> Fragment:
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
