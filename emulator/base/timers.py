"""Callbacks at certain times, in order. There is no clock here: `fire` takes `now`.

A heap of deadlines. A cancelled timer stays in it until it reaches the top and is then skipped, so
the many timers that never fire cost one comparison each.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from itertools import count


class Timer:
    """One callback to come."""

    __slots__ = ("_owner", "callback", "when")

    def __init__(self, when: int, callback: Callable[[], None], owner: Timers) -> None:
        self.when = when
        self.callback: Callable[[], None] | None = callback
        self._owner = owner

    def cancel(self) -> None:
        """Do not call back. Harmless if it has fired already."""
        if self.callback is not None:
            self.callback = None
            self._owner._cancelled()


class Timers:
    """The timers of a cluster. `on_earlier` is called when the next deadline becomes earlier."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Timer]] = []
        self._order = count()
        self._dead = 0
        self.on_earlier: Callable[[], None] | None = None

    def __len__(self) -> int:
        """How many have yet to fire."""
        return len(self._heap) - self._dead

    def at(self, when: int, callback: Callable[[], None]) -> Timer:
        """Call `callback` once the time is `when` (milliseconds) or later."""
        timer = Timer(when, callback, self)
        heappush(self._heap, (when, next(self._order), timer))
        if self.on_earlier is not None and self._heap[0][2] is timer:
            self.on_earlier()
        return timer

    def next(self) -> int | None:
        """The next deadline, if there is one."""
        heap = self._heap
        while heap and heap[0][2].callback is None:
            heappop(heap)
            self._dead -= 1
        return heap[0][0] if heap else None

    def fire(self, now: int) -> None:
        """Call everything that is due, in the order of deadlines, then of creation."""
        while (when := self.next()) is not None and when <= now:
            timer = heappop(self._heap)[2]
            callback, timer.callback = timer.callback, None
            assert callback is not None
            callback()

    def _cancelled(self) -> None:
        # A fetch a millisecond with a wait of minutes must not pile up a million dead entries.
        self._dead += 1
        if self._dead > 64 and self._dead * 2 > len(self._heap):
            self._heap = [entry for entry in self._heap if entry[2].callback is not None]
            heapify(self._heap)
            self._dead = 0
