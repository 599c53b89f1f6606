"""Turns: long work is done in pieces, so that nobody waits long for what another has asked.

The broker has one thread. Work that may take long is a generator that yields between its pieces,
each well under a millisecond; a handler that is a generator function is carried out so, and returns
its response as ever. Once a job's quantum is over it goes to the end of the queue, and the loop
serves other connections before the next job has its turn.

State may change at every `yield`, as it may on a real broker between two of its locks: whatever was
looked up before has to be looked up again, or its absence allowed for.

Without a server (`wake` is None: a test that drives a cluster directly) every job is carried out
to its end at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from time import perf_counter
from typing import TypeAlias, TypeVar

from .logger import log

T = TypeVar("T")
Slices: TypeAlias = Generator[None, None, T]
"""Work that yields wherever others may be served, and returns its result."""

QUANTUM_S = 0.002
"""How long a job is carried out in one turn."""


class Turns:
    """The jobs of a cluster that have not ended."""

    def __init__(self) -> None:
        self._jobs: deque[Slices[None]] = deque()
        # Has `work` called soon, after other connections were served; set by a server.
        self.wake: Callable[[], None] | None = None

    def __len__(self) -> int:
        """How many jobs have not ended."""
        return len(self._jobs)

    def begin(self, job: Slices[None]) -> None:
        """Carry out a job now, and in later turns if its quantum is over before it ends."""
        if not self._advance(job):
            self.add(job)

    def add(self, job: Slices[None]) -> None:
        """Carry out a job in later turns."""
        self._jobs.append(job)
        if self.wake is None:
            self.work()
        elif len(self._jobs) == 1:
            self.wake()

    def work(self) -> None:
        """One turn of the first job; without a server, all jobs to their end."""
        while self._jobs:
            job = self._jobs.popleft()
            if not self._advance(job):
                self._jobs.append(job)
            if self.wake is not None:
                break
        if self._jobs and self.wake is not None:
            self.wake()

    def _advance(self, job: Slices[None]) -> bool:
        """Carry out a job until its quantum is over. Returns whether it has ended."""
        end = perf_counter() + QUANTUM_S
        try:
            for _ in job:
                if self.wake is not None and perf_counter() >= end:
                    return False
        except Exception:
            log.exception("a job failed")
        return True

    def close(self) -> None:
        """Give up what has not ended."""
        while self._jobs:
            self._jobs.popleft().close()
