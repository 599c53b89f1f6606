"""The first read of a segment that opening took on trust: every batch in it is checked, once.

What is looked at, besides the batches themselves (damage_search.py):

- Offset index: each entry names the beginning of a batch, and no offset in front of that batch.
- Time index: up to the batch that holds an entry's offset none is later than the entry's time, and
  that one is as late; the last entry has the largest time of all.
- Transaction index: it names the transactions whose markers lie here, with their beginnings. In a
  compacted log less may be left of them than was indexed; there only a missing file is made again.
- The end: the offsets go on in the next segment, unless compaction took some (in this log it took
  others too, which the batches show), or an earlier repair has given them up.

An index that fails is made again from the batches. So it costs one walk through the segment, and
only one that is damaged costs two.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ...wire.batch import CONTROL, TRANSACTIONAL, BatchHeader
from ...wire.primitives import Buffer
from ..damage import Damage, given_up_to
from ..index import NO_TIMESTAMP, offset_entries, time_entries
from ..naming import OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX
from ..partition_directory import PartitionDirectory
from ..segment import Segment
from .damage_search import Inspection
from .producer_replay import find_aborted, find_marker

WRONG = "wrong"
EMPTY = "empty"
LOST_AT_THE_END = "batches at the end of the log are lost"
MISSING = "batches are missing in front of the next segment"


@dataclass
class Verification:
    """Checks the older segments of one log; `check` is to be the `verifier` of each."""

    home: PartitionDirectory
    segments: list[Segment]
    """All segments, oldest first, as they were when the log was opened."""
    notices: list[str]
    is_compacted: bool
    gaps: list[tuple[int, int]] = field(default_factory=list)
    """Offsets that earlier repairs have given up."""

    def check(self, segment: Segment, doubt: str = WRONG) -> None:
        """Fill in what `Segment.verify` promises; the indexes are thought to be `doubt`.

        Raises OSError.
        """
        walk = Inspection(self.home.name, segment, segment.size, limit=segment.next_offset)
        stored = self._read(segment, OFFSET_INDEX), self._read(segment, TIME_INDEX)
        indexes = IndexCheck(segment.base_offset, *stored)
        transactions = TransactionCheck()
        for position, header, chunk, at in walk.batches():
            indexes.batch(position, header)
            if header.attributes & (TRANSACTIONAL | CONTROL) and header.producer_id >= 0:
                transactions.batch(header, chunk, at)
        segment.damages = list(walk.damages)
        if segment.size or any(stored):  # else compaction has left nothing
            segment.damages += self.missing_end(segment, walk)
        segment.open_producers = frozenset(transactions.open)
        segment.ended_producers = frozenset(transactions.ended)
        is_right = indexes.are_right()
        if doubt == EMPTY and is_right and stored[0]:
            doubt = WRONG  # there are no times in the batches, so none in the index
        if walk.damages or doubt != WRONG or not is_right:
            self._index_again(segment, doubt, stored)
        self._check_aborted(segment, transactions)
        for damage in segment.damages:
            self.notices.append(f"{damage.file}: {damage.sentence}")

    def missing_end(self, segment: Segment, walk: Inspection) -> list[Damage]:
        """What is missing between the last batch and the next segment: one damage or none."""
        first, after = given_up_to(self.gaps, walk.next_offset), segment.next_offset
        if first >= after or self.is_compacted or walk.holes:
            return []
        return [Damage(self.home.name, segment.name, segment.size, 0, first, after, MISSING)]

    def _index_again(self, segment: Segment, doubt: str, stored: tuple[Buffer, Buffer]) -> None:
        """Make the indexes again; their files stay as they are where the log is damaged."""
        twin = self.home.segment(
            segment.base_offset, now_ms=0, index_interval_bytes=segment.index_interval_bytes
        )
        for position, header, _, _ in Inspection(
            self.home.name, segment, segment.size, limit=segment.next_offset
        ).batches():
            twin.note(header, position)
        segment.offset_index.close()
        segment.time_index.close()
        segment.take_indexes(twin)
        found = segment.offset_index.data, segment.time_index.data
        if not segment.damages:
            segment.write_lookups()
        if found != stored and not segment.damages:
            self.notices.append(f"{segment.name}: an index was {doubt} and was made again")

    def _check_aborted(self, segment: Segment, seen: TransactionCheck) -> None:
        index = segment.transaction_index
        if not seen.aborts and not (index and not self.is_compacted):
            return
        if self.is_compacted and (index or not seen.has_data):
            return
        found = find_aborted(self.home, self.segments, segment, self.notices)
        if found.data != index.data:
            segment.transaction_index = found
            if not segment.damages:
                segment.store_transaction_index()
            name = self.home.naming.file(segment.base_offset, TRANSACTION_INDEX)
            what = "wrong" if index else "missing"
            self.notices.append(f"{name}: {what}, made again from the batches")

    def _read(self, segment: Segment, suffix: str) -> Buffer:
        name = self.home.naming.file(segment.base_offset, suffix)
        return self.home.files.read_bytes(name) if self.home.files.exists(name) else b""


class IndexCheck:
    """Follows a walk through a segment, and its indexes beside it."""

    def __init__(self, base_offset: int, offsets: Buffer, times: Buffer) -> None:
        self._base = base_offset
        self._offsets = offset_entries(offsets)
        self._times = time_entries(times)
        self._next_position, self._next_offset = _NONE
        self._next_time, self._time_offset = _NONE
        self._latest = self._last_time = NO_TIMESTAMP
        self._is_right = True
        self._next_place()
        self._next_timestamp()

    def batch(self, position: int, header: BatchHeader) -> None:
        """The next batch of the segment."""
        if header[8] > self._latest:  # max_timestamp; by index, for this runs for every batch
            self._latest = header[8]
        if position >= self._next_position:
            relative = header[0] - self._base
            self._is_right &= position == self._next_position and relative <= self._next_offset
            self._next_place()
        if header[0] + header[6] - self._base >= self._time_offset:
            self._is_right &= self._next_time == self._latest == header[8]
            self._next_timestamp()

    def are_right(self, *, is_final: bool = True) -> bool:
        """Whether all entries have been found to be right, once all batches were seen.

        `is_final`: the time index has the entry that ends it.
        """
        is_complete = self._last_time == self._latest or self._latest < 0 or not is_final
        is_used_up = self._next_position == _NONE[0] and self._time_offset == _NONE[1]
        return self._is_right and is_used_up and is_complete

    def _next_place(self) -> None:
        self._next_offset, self._next_position = next(self._offsets, _NONE)

    def _next_timestamp(self) -> None:
        if self._time_offset != _NONE[1]:
            self._last_time = self._next_time
        self._next_time, self._time_offset = next(self._times, _NONE)


_NONE = (1 << 62, 1 << 62)


class TransactionCheck:
    """Which transactions a segment has data of, and which of them end in it."""

    def __init__(self) -> None:
        self.open: dict[int, int] = {}
        self.ended: set[int] = set()
        self.aborts = 0
        self.has_data = False
        """Whether one that was aborted has data here."""

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
