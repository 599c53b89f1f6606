"""Counting: of the requests that match, those for which a rule takes effect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random, randrange
from typing import Protocol


class Event(Protocol):
    """A threading.Event, or one of asyncio or anyio."""

    def is_set(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Counting:
    times: int | None = None
    """For so many requests, then never again."""
    after: int = 0
    """So many of the first are let through."""
    every: int = 1
    """Of those after that, each so-manieth."""
    probability: float | None = None
    seed: int = 0
    until: Event | Callable[[], object] | None = None
    during_ms: float | None = None
    """Since it was set, by the broker's clock."""

    @property
    def ends_by_itself(self) -> bool:
        """Whether it may be over without another request that matches."""
        return self.until is not None or self.during_ms is not None


class Count:
    def __init__(self, counting: Counting, now: int) -> None:
        self._said = counting
        self._random = Random(counting.seed)
        self._end = None if counting.during_ms is None else now + counting.during_ms
        self._is_over = False
        self.matched = 0
        self.hits = 0

    def is_over(self, now: int) -> bool:
        """Whether it never takes effect again. Raises what the function of `until` raises."""
        said = self._said
        if not self._is_over:
            self._is_over = (
                (said.times is not None and self.hits >= said.times)
                or (self._end is not None and now >= self._end)
                or (said.until is not None and bool(_has_come(said.until)))
            )
        return self._is_over

    def takes(self, now: int) -> bool:
        """A request matches: whether the rule takes effect for it."""
        if self.is_over(now):
            return False
        said = self._said
        self.matched += 1
        number = self.matched - said.after
        if number <= 0 or number % said.every:
            return False
        if said.probability is not None and self._random.random() >= said.probability:
            return False
        self.hits += 1
        return True


def new_seed() -> int:
    """A seed that can be typed."""
    return randrange(1_000_000)


def _has_come(until: Event | Callable[[], object]) -> object:
    return until() if callable(until) else until.is_set()
