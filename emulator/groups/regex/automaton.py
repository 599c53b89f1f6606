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

Source: Ken Thompson, "Regular expression search algorithm", 1968; RE2.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable
from enum import IntEnum, auto
from operator import ge
from typing import NamedTuple, TypeAlias, TypeVar

from ...base.logger import log
from .program import ANY_NUMBER, NOWHERE, Kind, Place, Program, Step

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


class Beside(IntEnum):
    """What stands on one side of a place."""

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

    def __init__(self, taken: tuple[Position, ...], before: Beside) -> None:
        self.taken = taken
        self.before = before
        # None: no text that goes on so matches.
        self.next: dict[str, State | None] = {}
        self.reached: dict[Beside, Reached] = {}
        self.is_end: bool | None = None


class Automaton:
    """A compiled expression."""

    def __init__(self, expression: str, program: Program) -> None:
        self._expression = expression
        self._program = program
        self._steps = program.steps
        self._states: dict[object, State] = {}
        self._known = 0

    def fullmatch(self, text: str) -> bool:
        """Whether all of the text matches."""
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
        state = self._state((), Beside.NOTHING)
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
            state.is_end = (yield from self._reach(state, Beside.NOTHING, work)).is_end
        return state.is_end

    def _after(self, state: State, char: str, work: Work) -> Portions[State | None]:
        """The state that the character leads to."""
        beside = self._beside(char)
        reached = yield from self._reach(state, beside, work)
        work.left -= len(reached.positions) // 2
        steps = self._steps
        taken = tuple(each for each in reached.positions if char in steps[each[0]].characters)
        return self._state(taken, beside) if taken else None

    def _beside(self, char: str) -> Beside:
        if not self._program.has_places:
            return Beside.NOTHING
        if char == "\n":
            return Beside.NEWLINE
        return Beside.WORD if char == "_" or (char.isascii() and char.isalnum()) else Beside.OTHER

    def _state(self, taken: tuple[Position, ...], before: Beside) -> State:
        if self._known > KNOWN_MAX:
            self._states.clear()
            self._known = 0
        key = frozenset(taken), before
        state = self._states.get(key)
        if state is None:
            state = self._states[key] = State(taken, before)
            self._known += sum(_size(position) for position in taken)
        return state

    def _reach(self, state: State, after: Beside, work: Work) -> Portions[Reached]:
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

    def __init__(self, program: Program, state: State, after: Beside) -> None:
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
        """What was found once nothing is left."""
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
                return before is Beside.NOTHING
            case Place.END_TEXT:
                return after is Beside.NOTHING
            case Place.BEGIN_LINE:
                return before in (Beside.NOTHING, Beside.NEWLINE)
            case Place.END_LINE:
                return after in (Beside.NOTHING, Beside.NEWLINE)
        is_boundary = (before is Beside.WORD) != (after is Beside.WORD)
        return is_boundary == (place is Place.WORD_BOUNDARY)


def _size(position: Position) -> int:
    return 1 + len(position[1])
