"""Matching a regular expression in time that grows with the text, whatever the expression.

Python's `re` tries one way after the other, so `(a+)+b` against thirty letters takes minutes, and a
broker has one thread. Here all ways are followed at once (Thompson's construction), character by
character: at most one step for each instruction and each character. Only whether all of a text
matches is found out, which is what subscriptions ask.

The expression comes as `re` reads it (its own parser), in the form that re2.py writes: no
backreferences and no lookaround but for what is not a word boundary. Repetitions are unrolled.

Source: Ken Thompson, "Regular expression search algorithm", 1968; RE2's limits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib import import_module
from typing import Any

# Not public, and stable since Python 3.11; what it returns is checked below.
_parse: Callable[[str], Iterable[Any]] = import_module("re._parser").parse

INSTRUCTIONS_MAX = 100_000

_IS = 0  # next character, if this is true of it
_BOTH = 1  # go on at both
_IF = 2  # go on if this is true of the place
_END = 3

_WORD = re.compile(r"[0-9A-Za-z_]")


class TooLarge(ValueError):
    """The expression, its repetitions unrolled, is too large to be followed."""


class Automaton:
    """A compiled expression."""

    def __init__(self, pattern: str) -> None:
        """Raises TooLarge, and re.error for what `re` cannot read."""
        self._program: list[tuple[int, Any, int]] = []
        self._start = self._sequence(list(_parse(pattern)), self._add(_END, None, 0), 0)

    def fullmatch(self, text: str) -> bool:
        """Whether all of the text matches."""
        states = self._reach([self._start], text, 0)
        for index, char in enumerate(text):
            after = [
                target
                for kind, test, target in (self._program[state] for state in states)
                if kind == _IS and test(char)
            ]
            if not after:
                return False
            states = self._reach(after, text, index + 1)
        return any(self._program[state][0] == _END for state in states)

    def _reach(self, states: Iterable[int], text: str, place: int) -> set[int]:
        """These, and where one gets from them without a character."""
        reached: set[int] = set()
        left = list(states)
        while left:
            state = left.pop()
            if state in reached:
                continue
            reached.add(state)
            kind, what, target = self._program[state]
            if kind == _BOTH:
                left += (what, target)
            elif kind == _IF and what(text, place):
                left.append(target)
        return reached

    def _add(self, kind: int, what: Any, target: int) -> int:
        if len(self._program) >= INSTRUCTIONS_MAX:
            raise TooLarge(f"more than {INSTRUCTIONS_MAX} instructions")
        self._program.append((kind, what, target))
        return len(self._program) - 1

    # Each of these adds what matches a piece and then goes on at `after`, and says where it begins.

    def _sequence(self, pieces: Sequence[Any], after: int, flags: int) -> int:
        for piece in reversed(pieces):
            after = self._piece(piece, after, flags)
        return after

    def _piece(self, piece: tuple[Any, Any], after: int, flags: int) -> int:
        kind, value = str(piece[0]), piece[1]
        if kind in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
            return self._add(_IS, _character(_source(kind, value), flags), after)
        if kind == "BRANCH":
            starts = [self._sequence(list(branch), after, flags) for branch in value[1]]
            start = starts.pop()
            while starts:
                start = self._add(_BOTH, starts.pop(), start)
            return start
        if kind == "SUBPATTERN":
            _, more, fewer, inner = value
            return self._sequence(list(inner), after, (flags | more) & ~fewer)
        if kind in ("MAX_REPEAT", "MIN_REPEAT"):
            return self._repeat(value, after, flags)
        if kind == "AT":
            return self._add(_IF, _place(str(value), flags), after)
        if kind == "ASSERT_NOT" and str(value[1]) == "[(AT, AT_BOUNDARY)]":
            return self._add(_IF, _is_no_boundary, after)
        raise re.error(f"{kind} cannot be followed")

    def _repeat(self, value: tuple[int, Any, Any], after: int, flags: int) -> int:
        low, high, inner = value[0], value[1], list(value[2])
        if str(high) == "MAXREPEAT":
            loop = self._add(_BOTH, after, after)
            begin = self._sequence(inner, loop, flags)
            self._program[loop] = (_BOTH, begin, after)
            start = loop
        else:
            start = after
            for _ in range(high - low):
                start = self._add(_BOTH, self._sequence(inner, start, flags), after)
        for _ in range(low):
            start = self._sequence(inner, start, flags)
        return start


def _source(kind: str, value: Any) -> str:
    """One character or class, as it is written."""
    if kind == "ANY":
        return "."
    if kind == "LITERAL":
        return _code(value)
    if kind == "NOT_LITERAL":
        return f"[^{_code(value)}]"
    items = []
    for what, item in value:
        if str(what) == "NEGATE":
            items.append("^")
        elif str(what) == "RANGE":
            items.append(f"{_code(item[0])}-{_code(item[1])}")
        elif str(what) == "LITERAL":
            items.append(_code(item))
        else:
            raise re.error(f"{what} in a class cannot be followed")
    return f"[{''.join(items)}]"


def _code(char: int) -> str:
    return f"\\U{char:08x}"


@cache
def _character(source: str, flags: int) -> Callable[[str], bool]:
    """Whether a character is this one, or in this class."""
    matches = re.compile(source, flags).fullmatch
    known: dict[str, bool] = {}

    def is_one(char: str) -> bool:
        found = known.get(char)
        if found is None:
            found = known[char] = matches(char) is not None
        return found

    return is_one


def _place(name: str, flags: int) -> Callable[[str, int], bool]:
    """What must be true of a place between two characters."""
    lines = bool(flags & re.MULTILINE)
    if name in ("AT_BEGINNING", "AT_BEGINNING_STRING"):
        by_line = lines and name == "AT_BEGINNING"
        return lambda text, place: place == 0 or (by_line and text[place - 1] == "\n")
    if name in ("AT_END", "AT_END_STRING"):
        by_line = lines and name == "AT_END"
        return lambda text, place: place == len(text) or (by_line and text[place] == "\n")
    if name == "AT_BOUNDARY":
        return lambda text, place: not _is_no_boundary(text, place)
    raise re.error(f"{name} cannot be followed")


def _is_no_boundary(text: str, place: int) -> bool:
    before = place > 0 and _WORD.match(text[place - 1]) is not None
    behind = place < len(text) and _WORD.match(text[place]) is not None
    return before == behind
