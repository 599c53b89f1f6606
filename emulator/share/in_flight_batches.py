"""Records in flight: batches that a share group has acquired, or has yet to be done with.

A batch is a range of offsets that share one state, until its records go different ways: then each
has its own. Who has acquired records holds a lock on them, which a timer ends.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterator
from enum import IntEnum

from ..base.timers import Timer

NOBODY = ""


class RecordState(IntEnum):
    """As the share coordinator stores it."""

    AVAILABLE = 0
    ACQUIRED = 1
    ACKNOWLEDGED = 2
    ARCHIVING = 3  # KIP-1191, which no broker does yet
    ARCHIVED = 4

    @property
    def is_done(self) -> bool:
        """Whether the record is not delivered again."""
        return self in (RecordState.ACKNOWLEDGED, RecordState.ARCHIVED)


StartLock = Callable[[str, int, int, int], Timer]
"""Starts the timer of a member's lock on these offsets, first and last, until a time (ms)."""


class InFlightState:
    """The state of one record, or of all records of a batch."""

    __slots__ = ("count", "is_settling", "lock", "member_id", "state")

    def __init__(self, state: RecordState, count: int, member_id: str = NOBODY) -> None:
        self.state = state
        self.count = count
        """How often it was delivered."""
        self.member_id = member_id
        self.lock: Timer | None = None
        self.is_settling = False
        """Whether its last change counts only after the request that has made it."""

    @property
    def is_free(self) -> bool:
        return self.state is RecordState.AVAILABLE and not self.is_settling

    def acquire(self, member_id: str, lock: Timer) -> None:
        self.state, self.member_id, self.lock = RecordState.ACQUIRED, member_id, lock
        self.count += 1

    def leave(self, state: RecordState, most_deliveries: int) -> None:
        """Its member is done with it: it is in this state, or archived if it would be available but
        was delivered as often as it may be. The lock goes on until `unlock`."""
        if state is RecordState.AVAILABLE and self.count >= most_deliveries:
            state = RecordState.ARCHIVED
        self.state, self.member_id = state, NOBODY

    def archive(self) -> None:
        self.state, self.member_id = RecordState.ARCHIVED, NOBODY
        self.unlock()

    def unlock(self) -> None:
        if self.lock is not None:
            self.lock.cancel()
            self.lock = None


class InFlightBatch:
    """A range of offsets: `whole` is the state of all, or `each` that of every one."""

    __slots__ = ("each", "first", "last", "whole")

    def __init__(self, first: int, last: int, whole: InFlightState) -> None:
        self.first = first
        self.last = last
        self.whole: InFlightState | None = whole
        self.each: dict[int, InFlightState] = {}

    @property
    def size(self) -> int:
        return self.last - self.first + 1

    def is_within(self, first: int, last: int) -> bool:
        return self.first >= first and self.last <= last

    def split(self, start_lock: StartLock) -> None:
        """Let every record have its own state, and its own lock until the same time."""
        whole = self.whole
        if whole is None:
            return
        for offset in range(self.first, self.last + 1):
            one = self.each[offset] = InFlightState(whole.state, whole.count, whole.member_id)
            if whole.lock is not None:
                one.lock = start_lock(whole.member_id, offset, offset, whole.lock.when)
        whole.unlock()
        self.whole = None

    def split_new(self, last: int, when: int, start_lock: StartLock) -> None:
        """The same of a batch without locks, of which only the offsets up to `last` are acquired,
        until a time: the others are available, and were not delivered."""
        whole = self.whole
        assert whole is not None
        for offset in range(self.first, self.last + 1):
            if offset <= last:
                one = InFlightState(whole.state, whole.count, whole.member_id)
                one.lock = start_lock(whole.member_id, offset, offset, when)
            else:
                one = InFlightState(RecordState.AVAILABLE, whole.count - 1)
            self.each[offset] = one
        self.whole = None

    def ranges(self) -> Iterator[tuple[int, int, InFlightState]]:
        """Its states: first and last offset, and the state."""
        if self.whole is not None:
            yield self.first, self.last, self.whole
            return
        for offset, one in self.each.items():
            yield offset, offset, one

    def state_at(self, offset: int) -> InFlightState | None:
        """The state of one offset; None if it is not in here."""
        return self.each.get(offset) if self.whole is None else self.whole


class InFlightBatches:
    """The batches of a partition, by their first offsets, in order."""

    def __init__(self) -> None:
        self._firsts: list[int] = []
        self._by_first: dict[int, InFlightBatch] = {}

    def __len__(self) -> int:
        return len(self._firsts)

    def __iter__(self) -> Iterator[InFlightBatch]:
        return (self._by_first[first] for first in tuple(self._firsts))

    @property
    def first(self) -> InFlightBatch:
        """The lowest. Raises IndexError if there is none."""
        return self._by_first[self._firsts[0]]

    @property
    def last(self) -> InFlightBatch:
        """The highest. Raises IndexError if there is none."""
        return self._by_first[self._firsts[-1]]

    def put(self, batch: InFlightBatch) -> None:
        """Add a batch, in the place of one with the same first offset."""
        if batch.first not in self._by_first:
            insort(self._firsts, batch.first)
        self._by_first[batch.first] = batch

    def floor(self, offset: int) -> InFlightBatch | None:
        """The highest that does not begin after this offset."""
        at = bisect_right(self._firsts, offset)
        return self._by_first[self._firsts[at - 1]] if at else None

    def between(self, first: int, last: int) -> list[InFlightBatch]:
        """Those that begin at one of these offsets."""
        low, high = bisect_left(self._firsts, first), bisect_right(self._firsts, last)
        return [self._by_first[each] for each in self._firsts[low:high]]

    def after(self, offset: int) -> InFlightBatch | None:
        """The lowest that begins after this offset."""
        at = bisect_right(self._firsts, offset)
        return self._by_first[self._firsts[at]] if at < len(self._firsts) else None

    def drop_before(self, offset: int) -> None:
        at = bisect_left(self._firsts, offset)
        for first in self._firsts[:at]:
            del self._by_first[first]
        del self._firsts[:at]

    def clear(self) -> None:
        self._firsts.clear()
        self._by_first.clear()
