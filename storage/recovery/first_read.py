"""The first read of a segment that was opened unread: every batch in it is checked, once.

What is checked, besides the batches themselves (damage_search.py):

- Offset index: each entry gives the position of a batch, and the last offset of it, or of a later
  one that was appended with it. It may rightly be empty, if `index.interval.bytes` was larger: then
  it gets entries without a notice. (Before magic 2 it was the first offset once.)
- Time index: no batch up to the one that holds an entry's offset is later than the entry's time,
  and that batch is as late; the last entry has the largest time of all.
- Transaction index: it lists the transactions whose markers are here, with their beginnings. A
  compacted segment may hold less of them than was indexed; there only a missing file is rebuilt.
- The end: the offsets continue in the next segment, unless compaction removed some or an earlier
  repair has recorded the gap.

A segment may be compacted if it begins before the offset that `cleaner-offset-checkpoint` has, even
if the policy is no longer `compact`: the gaps stay. Where the policy is `compact`, each may be: a
kill can come between a compaction and the checkpoint. Gaps between its batches show it, too.

A wrong index is rebuilt from the batches. So this costs one pass over the segment, and two if it is
damaged.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ...wire.batch import CONTROL, MAGIC, TRANSACTIONAL, BatchHeader
from ...wire.primitives import Buffer
from ..damage import Damage, after_gaps
from ..index import NO_TIMESTAMP, TIME_ENTRY_SIZE, offset_entries, time_entries
from ..naming import OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX
from ..partition_directory import PartitionDirectory
from ..segment import Segment
from .damage_search import DamageSearch
from .producer_replay import find_aborted, find_marker

WRONG = "wrong"
EMPTY = "empty"
_SPARSE = "sparse"
"""Without entries, since `index.interval.bytes` was larger when the segment was written."""
LOST_AT_THE_END = "batches at the end of the log are lost"
MISSING_BEFORE_NEXT = "batches are missing before the next segment"


@dataclass
class SegmentVerifier:
    """Checks the older segments of one log; `check` is the `verifier` of each."""

    home: PartitionDirectory
    segments: list[Segment]
    """All segments, oldest first, as they were when the log was opened."""
    notices: list[str]
    compacted_to: int
    """Segments that begin before this offset may be compacted."""
    gaps: list[tuple[int, int]] = field(default_factory=list)
    """Lost offsets that earlier repairs have recorded."""

    def check(self, segment: Segment, suspicion: str = WRONG) -> None:
        """Set what `Segment.verify` promises. `suspicion`: what may be wrong with the indexes.

        Raises OSError.
        """
        search = DamageSearch(self.home.name, segment, segment.size, limit=segment.next_offset)
        stored = self._read(segment, OFFSET_INDEX), self._read(segment, TIME_INDEX)
        indexes = IndexCheck(segment.base_offset, *stored)
        transactions = TransactionCheck()
        for position, header, chunk, at in search.batches():
            indexes.batch(position, header)
            if header.attributes & (TRANSACTIONAL | CONTROL) and header.producer_id >= 0:
                transactions.batch(header, chunk, at)
        segment.damages = list(search.damages)
        if segment.size or any(stored):  # else compaction has left no batch
            segment.damages += self.missing_end(segment, search)
        segment.open_producers = frozenset(transactions.open)
        segment.ended_producers = frozenset(transactions.ended)
        is_right = indexes.are_right()
        if suspicion == EMPTY and is_right:
            if stored[0]:
                suspicion = WRONG  # the batches have no timestamps, so the index is rightly empty
            elif len(stored[1]) <= TIME_ENTRY_SIZE:  # else lost: the two get entries together
                suspicion = _SPARSE
        if search.damages or suspicion != WRONG or not is_right:
            self._rebuild_indexes(segment, suspicion, stored)
        self._check_transaction_index(segment, transactions)
        for damage in segment.damages:
            self.notices.append(f"{damage.file}: {damage.sentence}")

    def missing_end(self, segment: Segment, search: DamageSearch) -> list[Damage]:
        """The damage between the last batch and the next segment, if offsets are missing there."""
        first, after = after_gaps(self.gaps, search.next_offset), segment.next_offset
        if first >= after or segment.base_offset < self.compacted_to or search.has_gaps:
            return []
        return [
            Damage(self.home.name, segment.name, segment.size, 0, first, after, MISSING_BEFORE_NEXT)
        ]

    def _rebuild_indexes(
        self, segment: Segment, suspicion: str, stored: tuple[Buffer, Buffer]
    ) -> None:
        """Rebuild the indexes. Their files are not written if the log is damaged."""
        twin = self.home.segment(
            segment.base_offset, now_ms=0, index_interval_bytes=segment.index_interval_bytes
        )
        for position, header, _, _ in DamageSearch(
            self.home.name, segment, segment.size, limit=segment.next_offset
        ).batches():
            twin.add_batch(header, position)
        segment.offset_index.close()
        segment.time_index.close()
        segment.replace_indexes(twin)
        found = segment.offset_index.data, segment.time_index.data
        if not segment.damages:
            segment.rewrite_indexes()
        if found != stored and not segment.damages and suspicion != _SPARSE:
            self.notices.append(f"{segment.name}: an index was {suspicion} and was rebuilt")

    def _check_transaction_index(self, segment: Segment, seen: TransactionCheck) -> None:
        index = segment.transaction_index
        is_compacted = segment.base_offset < self.compacted_to
        if not seen.aborts and not (index and not is_compacted):
            return
        if is_compacted and (index or not seen.has_data):
            return
        found = find_aborted(self.home, self.segments, segment, self.notices)
        if found.data != index.data:
            segment.transaction_index = found
            if not segment.damages:
                segment.store_transaction_index()
            name = self.home.naming.file(segment.base_offset, TRANSACTION_INDEX)
            what = "wrong" if index else "missing"
            self.notices.append(f"{name}: {what}, rebuilt from the batches")

    def _read(self, segment: Segment, suffix: str) -> Buffer:
        name = self.home.naming.file(segment.base_offset, suffix)
        return self.home.files.read_bytes(name) if self.home.files.exists(name) else b""


class IndexCheck:
    """Compares a segment's indexes with its batches, batch by batch."""

    def __init__(self, base_offset: int, offsets: Buffer, times: Buffer) -> None:
        self._base = base_offset
        self._offsets = offset_entries(offsets)
        self._times = time_entries(times)
        self._next_position, self._next_offset = _NONE
        self._next_time, self._time_offset = _NONE
        self._latest = self._last_time = NO_TIMESTAMP
        self._is_right = True
        self._last = -1
        """The last offset that an entry gives, and no batch had yet."""
        self._next_place()
        self._next_timestamp()

    def batch(self, position: int, header: BatchHeader) -> None:
        if header[8] > self._latest:  # max_timestamp; by index, for this runs for every batch
            self._latest = header[8]
        if position >= self._next_position:
            relative = header[0] - self._base
            self._is_right &= position == self._next_position and relative <= self._next_offset
            self._is_right &= self._last < 0
            self._last = self._next_offset
            if header[3] < MAGIC and relative == self._next_offset:
                self._last = -1
            self._next_place()
        if self._last >= 0:
            last = header[0] + header[6] - self._base
            self._is_right &= last <= self._last
            if last == self._last:
                self._last = -1
        if header[0] + header[6] - self._base >= self._time_offset:
            self._is_right &= self._next_time == self._latest == header[8]
            self._next_timestamp()

    def are_right(self, *, is_final: bool = True) -> bool:
        """Whether all entries are right, once all batches were passed to `batch`.

        `is_final`: the time index has its final entry.
        """
        is_complete = self._last_time == self._latest or self._latest < 0 or not is_final
        is_used_up = self._next_position == _NONE[0] and self._time_offset == _NONE[1]
        is_used_up &= self._last < 0
        return self._is_right and is_used_up and is_complete

    def _next_place(self) -> None:
        self._next_offset, self._next_position = next(self._offsets, _NONE)

    def _next_timestamp(self) -> None:
        if self._time_offset != _NONE[1]:
            self._last_time = self._next_time
        self._next_time, self._time_offset = next(self._times, _NONE)


_NONE = (1 << 62, 1 << 62)


class TransactionCheck:
    """Which transactions a segment has data of, and which end in it."""

    def __init__(self) -> None:
        self.open: dict[int, int] = {}
        self.ended: set[int] = set()
        self.aborts = 0
        self.has_data = False
        """Whether an aborted transaction has data here."""

    def batch(self, header: BatchHeader, chunk: Buffer, at: int) -> None:
        """The next batch of a producer that is transactional or a marker."""
        if not header.is_control:
            self.open.setdefault(header.producer_id, header.base_offset)
            return
        marker = find_marker(memoryview(chunk)[at : at + header.size], header)
        if marker is None:
            return
        self.ended.add(header.producer_id)
        begun = self.open.pop(header.producer_id, None)
        if not marker.commit:
            self.aborts += 1
            self.has_data |= begun is not None
