"""Turns: long work is done in pieces, so that nobody waits long for what another has asked.

The broker has one thread. Work that may take long is a generator that yields between its pieces,
each well under a millisecond; a handler that is a generator function is carried out so, and returns
its response as ever. So are the requests of a connection that has sent many ahead, one a piece, and
the sending of a large answer. A turn is one round of the event loop. Jobs that are not over at the
end of the turn's time wait in a queue; the loop serves other connections, then the first job has
the next turn, and goes to the end of the queue.

What is served directly, as bytes arrive, takes from the same time: once it is used up, whatever
else has become readable in that round queues up too. Only then is a new turn asked for, so a broker
with little to do never asks for one.

State may change at every `yield`, as it may on a real broker between two of its locks: whatever was
looked up before has to be looked up again, or its absence allowed for.

Without a server (`wake` is None: a test that drives a cluster directly) every job is carried out
to its end at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from typing import TypeAlias, TypeVar, cast

from .logger import log
from .real_time import perf_counter

T = TypeVar("T")
R = TypeVar("R")
Slices: TypeAlias = Generator[None, None, T]
"""Work that yields wherever others may be served, and returns its result."""
Keeper: TypeAlias = Callable[[Slices[None]], None]
"""The item that only a gate yields: it gets the job, which leaves the queue until it is added
again."""

QUANTUM_S = 0.002
"""How long jobs are carried out in one turn."""
FIRST_S = 0.0001
"""How long a job that comes first is, the first time."""


def each_of(items: Iterable[T], make: Callable[[T], R], at_a_time: int = 1) -> Slices[list[R]]:
    """The results of each item, that many in a slice."""
    made: list[R] = []
    for number, item in enumerate(items, 1):
        made.append(make(item))
        if not number % at_a_time:
            yield
    return made


def slices_of(items: list[T], size: int) -> Iterable[list[T]]:
    """All of a list, so many at a time."""
    if len(items) <= size:
        return (items,)
    return (items[first : first + size] for first in range(0, len(items), size))


def carried_out(slices: Slices[T]) -> T:
    """Carry out what enters no gate to its end, at once; return its result."""
    try:
        while True:
            next(slices)
    except StopIteration as end:
        result: T = end.value
        return result


class Turns:
    def __init__(self) -> None:
        self._jobs: deque[Slices[None]] = deque()
        self._first: deque[Slices[None]] = deque()
        self.left = QUANTUM_S
        """Seconds of this turn; whoever uses some takes them off, and calls `end` at zero."""
        self.is_over = False
        """Whether what comes up now has to queue."""
        self._is_woken = False
        # Has `work` called soon, after other connections were served; set by a server.
        self.wake: Callable[[], None] | None = None

    def __len__(self) -> int:
        return len(self._jobs) + len(self._first)

    def end(self) -> None:
        if self.wake is None:
            self.left = QUANTUM_S
        else:
            self.is_over = True
            self._wake()

    def begin(self, job: Slices[None], *, is_new: bool = True) -> None:
        """Carry out a job now, and in later turns if it is not over at the end of this one; of a
        new one a little comes first in the next turn."""
        add = self.add_first if is_new and self.wake is not None else self.add
        if self.is_over:
            add(job)
            return
        begin = perf_counter()
        has_ended = self._advance(job, begin + self.left)
        self.left -= perf_counter() - begin
        if self.left <= 0:
            self.end()
        if not has_ended:
            add(job)

    def add(self, job: Slices[None]) -> None:
        self._jobs.append(job)
        if self.wake is None:
            self.work()
        else:
            self._wake()

    def add_first(self, job: Slices[None]) -> None:
        """Carry out a little of a job in the next turn, before all that wait longer, and the rest
        in later ones: most that comes up when a turn is over is little."""
        self._first.append(job)
        self._wake()

    def work(self) -> None:
        """A new turn, of the first jobs; without a server, all jobs to their end."""
        self._is_woken = False
        self.is_over = self.wake is not None  # what comes up meanwhile queues up
        self._work_through(self._first, FIRST_S)
        self._work_through(self._jobs, QUANTUM_S)
        self.is_over = False
        self.left = QUANTUM_S
        if self._jobs or self._first:
            self._wake()

    def _work_through(self, jobs: deque[Slices[None]], share: float) -> None:
        """Carry out these jobs, at most so long each, for as long as the turn goes."""
        now = perf_counter()
        end = now + QUANTUM_S
        while jobs:
            job = jobs.popleft()
            if not self._advance(job, min(now + share, end)):
                self._jobs.append(job)
            now = perf_counter()
            if self.wake is not None and now >= end:
                break

    def _wake(self) -> None:
        if self.wake is not None and not self._is_woken:
            self._is_woken = True
            self.wake()

    def _advance(self, job: Slices[None], end: float) -> bool:
        """Carry out a job until that time. Returns whether it has ended, or waits."""
        try:
            for keep in cast("Generator[Keeper | None, None, None]", job):
                if keep is not None:
                    keep(job)
                    return True
                if self.wake is not None and perf_counter() >= end:
                    return False
        except Exception:
            log.exception("a job failed")
        return True

    def close(self) -> None:
        for jobs in (self._first, self._jobs):
            while jobs:
                jobs.popleft().close()


class Gate:
    """Room for one job at a time: the others wait their turn."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._is_taken = False
        self._waiting: deque[Slices[None]] = deque()

    def enter(self) -> Slices[None]:
        while self._is_taken:
            yield cast(None, self._waiting.append)
        self._is_taken = True

    def leave(self) -> None:
        self._is_taken = False
        if self._waiting:
            self._turns.add(self._waiting.popleft())
