"""From a schedule that fails to the fewest and smallest misfortunes that still do.

Threads of clients race, so the same schedule need not fail each time: it is tried several times
before it counts as one that passes. What did not happen in a run that failed is left out at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from ..base.real_time import monotonic
from .misfortune import Misfortune
from .schedule import Schedule

P = TypeVar("P")
TRIES = 3
MOST_RUNS = 60
MOST_S = 60.0


@dataclass
class Outcome(Generic[P]):
    """How one run has ended."""

    failure: str
    """How it failed, as "call: AssertionError"; "" if it passed."""
    happened: tuple[Misfortune, ...]
    """The misfortunes that have happened, of those that it had."""
    payload: P
    """What else there is to keep of it."""


@dataclass
class Shrunk(Generic[P]):
    """What is left."""

    schedule: Schedule
    outcome: Outcome[P]
    """Of a run with it, which failed."""
    tries: int = 1
    """It failed in the so-manieth run."""
    runs: int = 0
    """How many were made to find it."""
    is_given_up: bool = False
    """Whether there was no time to try all that is less."""


class Shrinking(Generic[P]):
    """Looks for less that fails in the same way. `found` is the least so far."""

    def __init__(
        self,
        first: Outcome[P],
        run: Callable[[Schedule], Outcome[P]],
        *,
        tries: int = TRIES,
        most_runs: int = MOST_RUNS,
        most_s: float = MOST_S,
    ) -> None:
        self.found = Shrunk(Schedule(first.happened), first)
        self._run = run
        self._failure = first.failure
        self._tries = tries
        self._most_runs = most_runs
        self._end = monotonic() + most_s
        self._passed: set[tuple[Misfortune, ...]] = set()

    def shrink(self) -> Shrunk[P]:
        """Go on until nothing less fails, or for so many runs and so much time."""
        while any(self._fails(each) for each in _less(self.found.schedule.misfortunes)):
            continue
        return self.found

    def _fails(self, misfortunes: tuple[Misfortune, ...]) -> bool:
        if misfortunes in self._passed:
            return False
        found = self.found
        for number in range(1, self._tries + 1):
            if found.runs >= self._most_runs or monotonic() > self._end:
                found.is_given_up = True
                return False
            outcome = self._run(Schedule(misfortunes))
            found.runs += 1
            if outcome.failure == self._failure:
                left = Schedule(outcome.happened)
                self.found = Shrunk(left, outcome, number, found.runs)
                return True
        self._passed.add(misfortunes)
        return False


def _less(there: tuple[Misfortune, ...]) -> Iterator[tuple[Misfortune, ...]]:
    """What is less than these: nothing at all, halves, all but one, one of them smaller."""
    if there:
        yield ()
    if len(there) > 3:
        half = len(there) // 2
        yield there[:half]
        yield there[half:]
    if len(there) > 1:
        for index in range(len(there)):
            yield there[:index] + there[index + 1 :]
    for index, each in enumerate(there):
        for smaller in each.smaller():
            yield (*there[:index], smaller, *there[index + 1 :])
