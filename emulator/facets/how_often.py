"""HowOften: the part of a sentence that says of which requests, or operations, it holds:
`once()`, `after(2)`, `every(3)`.

Each qualifier returns a new sentence; only a verb at its end sets something. A sentence that was
given up before its verb is told at the end of the test, for it looks like a fault and is none.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from ..control.rules.checks import a_function, a_number, a_time, a_whole_number, name_of
from ..control.rules.counting import Counting, Event, new_seed

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound="HowOften")


def goes_on(part: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Of each verb and qualifier: the sentence before it was not given up, not even if an argument
    is refused."""

    @wraps(part)
    def going_on(self: S, /, *args: P.args, **arguments: P.kwargs) -> R:
        __tracebackhide__ = True
        self._goes_on = True
        return part(self, *args, **arguments)

    return going_on


class HowOften:
    """A sentence without its verb. `unfinished` is where it is noted if nobody holds it any more,
    and it had none."""

    def __init__(self, sentence: str, unfinished: list[str]) -> None:
        self._sentence = sentence
        self._unfinished = unfinished
        self._counting = Counting()
        self._is_optional = False
        self._goes_on = False

    def __repr__(self) -> str:
        return self._sentence

    def __del__(self) -> None:
        if not self._goes_on:
            self._unfinished.append(self._sentence)

    @goes_on
    def once(self) -> Self:
        """Only for the first of them."""
        return self._counted("once()", times=1)

    @goes_on
    def times(self, count: int) -> Self:
        """Only for so many of them, from the first on."""
        return self._counted(f"times({count})", times=a_whole_number("times", count))

    @goes_on
    def after(self, count: int) -> Self:
        """So many of them are let through first."""
        return self._counted(f"after({count})", after=a_whole_number("after", count, least=0))

    @goes_on
    def every(self, count: int) -> Self:
        """For each so-manieth of them: with 3, the third, the sixth, ..."""
        return self._counted(f"every({count})", every=a_whole_number("every", count))

    @goes_on
    def with_probability(self, probability: float, seed: int | None = None) -> Self:
        """For some of them, by chance. The same seed makes the same choices; without one it is
        drawn, and stands in the sentence."""
        chance = a_number("probability", probability, most=1)
        drawn = new_seed() if seed is None else a_whole_number("seed", seed, least=0)
        said = f"with_probability({probability}, seed={drawn})"
        return self._counted(said, probability=chance, seed=drawn)

    @goes_on
    def until(self, event: Event | Callable[[], object]) -> Self:
        """Until an event of threading, asyncio or anyio is set, or a function returns something
        true. It is called whenever one of them comes, in the broker's thread; for operations on
        files also in others of the broker."""
        if not hasattr(event, "is_set"):
            a_function("until", event, "of nothing, or a threading.Event")
        return self._counted(f"until({name_of(event)})", until=event)

    @goes_on
    def during(self, seconds: float) -> Self:
        """For so many seconds by the broker's clock, from when it is set."""
        length = a_time("seconds", seconds) * 1000
        return self._counted(f"during({seconds})", during_ms=length)

    @goes_on
    def optional(self) -> Self:
        """It is no failure of the test if it never takes effect."""
        more = self._counted("optional()")
        more._is_optional = True
        return more

    def _counted(self, said: str, **counting: Any) -> Self:
        more = copy(self)
        more._sentence = f"{self._sentence}.{said}"
        more._counting = replace(self._counting, **counting)
        more._goes_on = False
        return more
