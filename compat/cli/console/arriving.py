"""Records as they come: what has arrived together is sent together, without waiting for more."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Iterable
from threading import Event, Thread

from .sending import Placed

_MOST_AT_ONCE = 5000
_MOST_WAITING = 20_000
_PAUSE_S = 0.005
_LINGER_S = 0.005  # what comes so soon after another goes with it, as with `linger.ms`


def chunks(records: Iterable[Placed], rate: float | None) -> Generator[list[Placed], None, None]:
    """What comes together, without waiting for more. What is wrong with a record is raised after
    those before it."""
    waiting = _Waiting()
    Thread(target=waiting.read, args=(records,), name="odradek-input", daemon=True).start()
    begin, done = time.monotonic(), 0
    most = _MOST_AT_ONCE if rate is None else max(1, min(_MOST_AT_ONCE, int(rate / 10)))
    try:
        while not waiting.is_over:
            chunk = waiting.take(most)
            if chunk:
                if rate is not None:
                    time.sleep(max(0.0, begin + done / rate - time.monotonic()))
                yield chunk
                done += len(chunk)
    finally:
        waiting.is_wanted = False
    if waiting.problem is not None:
        raise waiting.problem


class _Waiting:
    """Records that one thread has read, and another takes: many at once, which costs little."""

    def __init__(self) -> None:
        self.problem: BaseException | None = None
        self.is_wanted = True
        """Whether more is read."""
        self._records: deque[Placed] = deque()
        self._is_read = False
        self._there = Event()

    @property
    def is_over(self) -> bool:
        """Whether everything was read and taken."""
        return self._is_read and not self._records

    def read(self, records: Iterable[Placed]) -> None:
        """Read them all, never many more than were taken."""
        try:
            for each in records:
                self._records.append(each)
                if not self._there.is_set():
                    self._there.set()
                while self.is_wanted and len(self._records) > _MOST_WAITING:
                    time.sleep(_PAUSE_S)
                if not self.is_wanted:
                    break
        except BaseException as error:  # it is raised where the records are sent
            self.problem = error
        self._is_read = True
        self._there.set()

    def take(self, most: int) -> list[Placed]:
        """Those that are there, once there is one or all are read; up to so many."""
        chunk: list[Placed] = []
        while len(chunk) < most and not self.is_over:
            if self._records:
                chunk.append(self._records.popleft())
                continue
            self._there.clear()
            if self._records or self._is_read:
                continue
            if not self._there.wait(_LINGER_S if chunk else None):
                break
        return chunk
