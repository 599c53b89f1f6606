"""Acquiring: which of the records that were read a member gets.

Rules (semantics N12, N13, N15):
- What is available again comes first, then what is new; what others have is left out.
- The limit of records is reached at the end of a batch of the log; with acquire mode RECORD_LIMIT
  exactly. New records are grouped into ranges of whole batches, of at least `batch_size` records.
- No more are acquired than the group's limit of locks leaves; that may be exceeded to the end of a
  batch.
- A batch that was delivered often is handed out in parts: from half of the limit of deliveries on
  (at least 2) in halves, quarters and so on, and one by one for the last delivery. Nothing else is
  handed out with it.
Source: Kafka 4.3.1's answers (SharePartition.acquire).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...wire.batch import BatchHeader
from .in_flight import Batch, InFlight, Lock, RecordState
from .share_partition import SharePartition, archive

BATCH_OPTIMIZED, RECORD_LIMIT = 0, 1
_LEAST_THROTTLED = 2


class Acquired(NamedTuple):
    """A range of offsets that a member gets."""

    first_offset: int
    last_offset: int
    delivery_count: int

    @property
    def size(self) -> int:
        """How many offsets."""
        return self.last_offset - self.first_offset + 1


class Wish(NamedTuple):
    """Who wants records, and how."""

    member_id: str
    exact: bool
    """Whether the limit of records is not to be exceeded (RECORD_LIMIT)."""
    batch_size: int


def acquire(
    share: SharePartition, wish: Wish, limit: int, fetch_offset: int, read: Sequence[BatchHeader]
) -> list[Acquired]:
    """Acquire at most so many of the records in these batches of the log, which were read from
    `fetch_offset` on."""
    if share.is_fenced or limit <= 0 or not read or read[-1].last_offset < share.start_offset:
        return []
    limit, last = _bounds(share, limit, fetch_offset, read[-1].last_offset)
    if limit <= 0:
        return []
    return _Acquiring(share, wish, limit, last, read).run(fetch_offset)


def _bounds(share: SharePartition, limit: int, fetch_offset: int, last: int) -> tuple[int, int]:
    """How many may be acquired, and up to which offset."""
    room = share.settings.most_locks - share.in_flight
    if room > 0:
        return min(limit, room), last
    if fetch_offset > share.end_offset:
        return 0, last
    # Nothing new, but what is available again.
    return min(limit, share.end_offset - fetch_offset + 1), min(last, share.end_offset)


class _Acquiring:
    """One acquisition."""

    def __init__(
        self,
        share: SharePartition,
        wish: Wish,
        limit: int,
        last: int,
        read: Sequence[BatchHeader],
    ) -> None:
        self._share = share
        self._wish = wish
        self._left = limit
        self._last = last
        self._read = read
        self._first = read[0].base_offset
        self._most = share.settings.most_deliveries
        self._often = max(_LEAST_THROTTLED, (self._most + 1) // 2)
        self._found: list[Acquired] = []

    def run(self, fetch_offset: int) -> list[Acquired]:
        share, first = self._share, self._first
        self._archive_stale(fetch_offset)
        floor, base = share.batches.floor(first), first
        if floor is None:
            base = max(first, share.start_offset)
        elif floor.last >= first:
            base = floor.first
        known = share.batches.between(min(first, base), self._last)
        if not known:
            self._new(base, self._last)
            return self._found
        self._again(known, base)
        if self._left > 0 and known[-1].last < self._last:
            self._new(known[-1].last + 1, self._last)
        if self._found:
            share.moved_past_gap(self._found[-1].last_offset + 1)
        return self._found

    def _archive_stale(self, fetch_offset: int) -> None:
        """What is not in the log any more, since compaction removed it, is not delivered."""
        share, base = self._share, self._first
        if not share.batches or fetch_offset >= base:
            return
        floor, low = share.batches.floor(fetch_offset), fetch_offset
        if floor is not None and floor.last >= fetch_offset:
            low = floor.first
        stale = share.batches.between(low, base - 1)
        if archive(share, fetch_offset, base, stale, RecordState.AVAILABLE, counts=True):
            share.may_have_available = True

    # What was acquired before

    def _again(self, known: Sequence[Batch], base: int) -> None:
        gap_start = base
        for batch in known:
            if self._left <= 0:
                return
            if self._share.open_gap is not None:
                if gap_start < batch.first:
                    self._new(gap_start, batch.first - 1)
                gap_start = batch.last + 1
                if self._left <= 0:
                    return
            if not self._take(batch):
                return

    def _take(self, batch: Batch) -> bool:
        """Take what there is of a batch. Returns whether more may be taken after it."""
        share, whole = self._share, batch.whole
        is_throttled = self._is_throttled(batch)
        if is_throttled and self._found:
            self._left = 0
            return False
        is_cut = self._wish.exact and batch.size > self._left
        is_within = batch.is_within(self._first, self._last)
        if whole is not None and not whole.is_free:
            return True
        if whole is None or not is_within or is_cut or is_throttled:
            batch.split(share.lock_until)
            count = self._take_some(batch)
            self._left -= count
            if is_throttled and count:
                self._left = 0
                return False
            return True
        whole.acquire(self._wish.member_id, self._lock(batch.first, batch.last))
        self._found.append(Acquired(batch.first, batch.last, whole.count))
        self._left -= batch.size
        return True

    def _is_throttled(self, batch: Batch) -> bool:
        counts = (
            state.count
            for first, _, state in batch.ranges()
            if state.is_free and (batch.whole is not None or self._first <= first <= self._last)
        )
        return max(counts, default=0) >= self._often

    def _take_some(self, batch: Batch) -> int:
        """Take available records of a split batch; returns how many."""
        taken: list[tuple[int, int]] = []
        at_most = None
        for offset, one in batch.each.items():
            if offset < self._first or not one.is_free:
                continue
            if offset > self._last:
                break
            if self._most > 2 and one.count == self._most - 1 and taken:
                break
            if one.count >= self._often and at_most is None:
                at_most = max(1, len(batch.each) >> (one.count - self._often + 1))
            one.acquire(self._wish.member_id, self._lock(offset, offset))
            taken.append((offset, one.count))
            if one.count == self._most > 2:
                break
            if self._wish.exact and len(taken) == self._left:
                break
            if len(taken) == at_most:
                break
        self._found += _ranges(taken)
        return len(taken)

    # What is new

    def _new(self, first: int, last: int) -> None:
        """Acquire new records in this range, as many as are left."""
        share, left = self._share, self._left
        if not share.batches and share.end_offset > first:
            first = share.end_offset
        if left < last - first + 1:
            end = self._end_of_batch(first + left - 1)
            last = min(end, last) if share.open_gap is not None else end
        found = self._added(first, last)
        if share.batches.first.first == first:
            share.start_offset = first
        share.end_offset = max(share.end_offset, last)
        if self._wish.exact:
            last = found[0].last_offset
        share.moved_past_gap(last + 1)
        self._found += found
        self._left -= last - first + 1

    def _end_of_batch(self, offset: int) -> int:
        """The last offset of the batch of the log that has this one."""
        for header in reversed(self._read):
            if header.base_offset <= offset:
                return max(offset, header.last_offset)
        return offset

    def _added(self, first: int, last: int) -> list[Acquired]:
        """Put a range of new records in flight, in batches of about the wanted size."""
        share, wish = self._share, self._wish
        if wish.exact:
            found = [Acquired(first, last, 1)]
            if found[0].size > self._left:
                return [self._added_in_part(first, last)]
        else:
            found = self._grouped(first, last)
        for each in found:
            state = InFlight(RecordState.AVAILABLE, 0)
            state.acquire(wish.member_id, self._lock(each.first_offset, each.last_offset))
            share.batches.put(Batch(each.first_offset, each.last_offset, state))
        return found

    def _added_in_part(self, first: int, last: int) -> Acquired:
        share = self._share
        state = InFlight(RecordState.ACQUIRED, 1, self._wish.member_id)
        batch, end = Batch(first, last, state), first + self._left - 1
        batch.split_new(end, share.lock_end(), share.lock_until)
        share.may_have_available = True
        share.batches.put(batch)
        return Acquired(first, end, 1)

    def _grouped(self, first: int, last: int) -> list[Acquired]:
        found, size = [], self._wish.batch_size
        if last - first + 1 > size:
            for header in self._read:
                base = header.base_offset
                if base > last:
                    break
                if base - first >= size:
                    found.append(Acquired(first, base - 1, 1))
                    first = base
        return [*found, Acquired(first, last, 1)]

    def _lock(self, first: int, last: int) -> Lock:
        return self._share.lock(self._wish.member_id, first, last)


def _ranges(taken: Sequence[tuple[int, int]]) -> list[Acquired]:
    """Offsets with their delivery counts, as ranges."""
    found: list[Acquired] = []
    for offset, count in taken:
        last = found[-1] if found else None
        if last is not None and last.last_offset + 1 == offset and last.delivery_count == count:
            found[-1] = last._replace(last_offset=offset)
        else:
            found.append(Acquired(offset, offset, count))
    return found
