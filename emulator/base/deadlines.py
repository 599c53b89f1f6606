"""The deadlines of many keys, cheap to postpone.

A heartbeat postpones its member's deadline; that must not search or sort. So the heap may hold an
entry that is too early: it is corrected when it reaches the top. To postpone is then one dictionary
write, and `next` corrects at most what has reached the top since the last call.
"""

from __future__ import annotations

from collections.abc import Hashable
from heapq import heappop, heappush, heapreplace
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


class Deadlines(Generic[K]):
    """At most one deadline (milliseconds) for each key."""

    __slots__ = ("_due", "_heap", "_queued", "_sequence")

    def __init__(self) -> None:
        self._due: dict[K, int] = {}
        # The moment of the one live heap entry of each key; never later than its deadline.
        self._queued: dict[K, int] = {}
        self._heap: list[tuple[int, int, K]] = []
        self._sequence = 0

    def set(self, key: K, when: int) -> None:
        """Set the deadline of `key`, replacing any other."""
        self._due[key] = when
        queued = self._queued.get(key)
        if queued is None or when < queued:
            self._queued[key] = when
            self._sequence += 1
            heappush(self._heap, (when, self._sequence, key))

    def clear(self, key: K) -> None:
        """Forget the deadline of `key`, if it has one."""
        self._due.pop(key, None)

    def get(self, key: K) -> int | None:
        """The deadline of `key`, or None."""
        return self._due.get(key)

    def shift(self, milliseconds: int) -> None:
        """Every deadline is so much later, or earlier."""
        self._due = {key: when + milliseconds for key, when in self._due.items()}
        self._queued = {key: when + milliseconds for key, when in self._queued.items()}
        self._heap = [(when + milliseconds, order, key) for when, order, key in self._heap]

    def next(self) -> int | None:
        """The earliest deadline, or None when there is none."""
        heap = self._heap
        while heap:
            when, _, key = heap[0]
            if self._queued.get(key) != when:  # stale: replaced by an earlier entry
                heappop(heap)
                continue
            due = self._due.get(key)
            if due == when:
                return when
            if due is None:
                heappop(heap)
                del self._queued[key]
            else:
                self._queued[key] = due
                self._sequence += 1
                heapreplace(heap, (due, self._sequence, key))
        return None

    def pop(self, now: int) -> K | None:
        """Remove and return the key with the earliest deadline, if it is due at `now`."""
        when = self.next()
        if when is None or when > now:
            return None
        key = heappop(self._heap)[2]
        del self._due[key], self._queued[key]
        return key
