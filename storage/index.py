"""The three indexes of a segment: by offset, by time, and of aborted transactions.

Offset index, `.index`: relative offset int32, position int32. For some batches, the last offset
they hold (less the segment's base) and where in the `.log` they begin. Time index, `.timeindex`:
timestamp int64, relative offset int32. The batch that ends at that offset has this timestamp, and
no batch before it has a later one. Both are sparse and rise strictly; segment.py says when an entry
is added. Transaction index, `.txnindex`: version int16 = 0, producer id, first offset,
last offset (the marker's), last stable offset, int64 each, in the order of markers.

Rules: the indexes of the active segment are kept in memory, in the bytes of their files, and
written now and then; those of older segments are searched in their files, so memory does not grow
with data. Kafka preallocates the files of the active segment with zeros; these are not. The
functions `check_…` find most damage of an index file by its ends; a damaged index is rebuilt from
the log.

Source: KIP-33 (time index), KIP-98 (transaction index); files of Kafka 4.3.1.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from struct import Struct

from ..wire.primitives import Buffer
from .disk.directory import File
from .producers import AbortedTransaction

_OFFSET_ENTRY = Struct(">ii")
_TIME_ENTRY = Struct(">qi")
_ABORTED = Struct(">hqqqq")
_ABORTED_VERSION = 0

OFFSET_ENTRY_SIZE = _OFFSET_ENTRY.size
TIME_ENTRY_SIZE = _TIME_ENTRY.size

NO_TIMESTAMP = -1


class _SparseIndex:
    """Entries of one size: in memory while they grow, in a file once they are complete."""

    __slots__ = ("_data", "_file", "count")
    _entry: Struct

    def __init__(self, data: Buffer = b"") -> None:
        self._data = bytearray(data)
        self.count = len(self._data) // self._entry.size
        self._file: File | None = None

    @property
    def data(self) -> bytearray:
        """The bytes of the file, while they are in memory."""
        return self._data

    @property
    def is_sealed(self) -> bool:
        """Whether it is complete, and searched in its file."""
        return self._file is not None

    def seal(self, file: File, count: int) -> None:
        """Search the first `count` entries in `file` from now on; no more are added."""
        self.count = count
        self._file = file
        self._data = bytearray()

    def renamed(self, suffix: str) -> None:
        """The file's name has got this suffix."""
        if self._file is not None:
            self._file.path += suffix

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def _at(self, index: int) -> tuple[int, int]:
        size = self._entry.size
        if self._file is None:
            first, second = self._entry.unpack_from(self._data, index * size)
        else:
            first, second = self._entry.unpack(self._file.read(index * size, size))
        return first, second

    def _first(self, index: int) -> int:
        return self._at(index)[0]

    def _second(self, index: int) -> int:
        return self._at(index)[1]


class OffsetIndex(_SparseIndex):
    """Where to begin searching for an offset."""

    __slots__ = ()
    _entry = _OFFSET_ENTRY

    def append(self, relative_offset: int, position: int) -> None:
        """Add a batch by its last offset. Both numbers are larger than all before them."""
        self._data += _OFFSET_ENTRY.pack(relative_offset, position)
        self.count += 1

    def floor(self, relative_offset: int) -> int:
        """The position of an indexed batch that is not after this offset; 0 if there is none."""
        index = bisect_right(range(self.count), relative_offset, key=self._first)
        return self._second(index - 1) if index else 0

    def offset_from(self, position: int) -> int | None:
        """The relative offset of the first indexed batch at or after `position`, or None.

        If that is the very first entry, and at `position`, it is the one after it: Kafka's search
        never compares the first.
        """
        index = bisect_left(range(self.count), position, key=self._second)
        if index == 0 and self.count and self._second(0) == position:
            index = 1
        return self._first(index) if index < self.count else None


class TimeIndex(_SparseIndex):
    """Where to begin searching for a timestamp."""

    __slots__ = ("last_timestamp",)
    _entry = _TIME_ENTRY

    def __init__(self, data: Buffer = b"") -> None:
        super().__init__(data)
        self.last_timestamp = NO_TIMESTAMP

    def append(self, timestamp: int, relative_offset: int) -> None:
        """Add the largest timestamp so far, unless the last entry has it already."""
        if timestamp > self.last_timestamp:
            self._data += _TIME_ENTRY.pack(timestamp, relative_offset)
            self.count += 1
            self.last_timestamp = timestamp

    def with_last(self, timestamp: int, relative_offset: int) -> bytes:
        """The bytes of the file if this were added now."""
        last = _TIME_ENTRY.pack(timestamp, relative_offset)
        return bytes(self._data) + (last if timestamp > self.last_timestamp else b"")

    def floor(self, timestamp: int) -> int:
        """A relative offset below which no batch is as late as `timestamp`; 0 if not known."""
        index = bisect_right(range(self.count), timestamp, key=self._first)
        return self._second(index - 1) if index else 0

    def last(self) -> tuple[int, int]:
        """The last entry: timestamp, relative offset; (-1, 0) if there is none."""
        return self._at(self.count - 1) if self.count else (NO_TIMESTAMP, 0)


class TransactionIndex:
    """The aborted transactions whose markers are in a segment. Always in memory: they are few."""

    __slots__ = ("_data",)

    def __init__(self, data: Buffer = b"") -> None:
        self._data = bytearray(data)

    @property
    def data(self) -> bytearray:
        """The bytes of the file."""
        return self._data

    def __len__(self) -> int:
        return len(self._data) // _ABORTED.size

    def append(self, aborted: AbortedTransaction) -> None:
        """Add a transaction whose marker comes after those of all others here."""
        self._data += _ABORTED.pack(_ABORTED_VERSION, *aborted)

    def entries(self) -> list[AbortedTransaction]:
        """All of them, in the order of markers."""
        return [self._at(index) for index in range(len(self))]

    def overlapping(self, offset: int, upto: int) -> list[AbortedTransaction]:
        """Those that end at `offset` or later and begin before `upto`."""
        begin = bisect_left(range(len(self)), offset, key=lambda index: self._at(index).last_offset)
        entries = map(self._at, range(begin, len(self)))
        return [entry for entry in entries if entry.first_offset < upto]

    def covers(self, upto: int) -> bool:
        """True when no marker after this segment can end a transaction begun before `upto`."""
        return len(self) > 0 and self._at(len(self) - 1).last_stable_offset >= upto

    def _at(self, index: int) -> AbortedTransaction:
        _, *fields = _ABORTED.unpack_from(self._data, index * _ABORTED.size)
        return AbortedTransaction(*fields)


def offset_entries(data: Buffer) -> Iterator[tuple[int, int]]:
    """Relative offset and position of each entry of an offset index; a torn last one is skipped."""
    return _entries(_OFFSET_ENTRY, data)


def time_entries(data: Buffer) -> Iterator[tuple[int, int]]:
    """Timestamp and relative offset of each entry of a time index; a torn last one is skipped."""
    return _entries(_TIME_ENTRY, data)


def _entries(entry: Struct, data: Buffer) -> Iterator[tuple[int, int]]:
    whole = memoryview(data)[: len(data) - len(data) % entry.size]
    return ((first, second) for first, second in entry.iter_unpack(whole))


def check_offset_index(first: Buffer, last: Buffer, relative_end: int, log_size: int) -> bool:
    """Whether an offset index with these two entries may belong to this segment.

    Every offset in it is below `relative_end`, every position below `log_size`; none is zero.
    """
    low: tuple[int, ...] = _OFFSET_ENTRY.unpack(first)
    high: tuple[int, ...] = _OFFSET_ENTRY.unpack(last)
    rises = first == last or (low[0] < high[0] and low[1] < high[1])
    return rises and low[0] >= 0 and low[1] > 0 and high[0] < relative_end and high[1] < log_size


def check_time_index(first: Buffer, last: Buffer, relative_end: int) -> bool:
    """Whether a time index with these two entries may belong to this segment."""
    low: tuple[int, ...] = _TIME_ENTRY.unpack(first)
    high: tuple[int, ...] = _TIME_ENTRY.unpack(last)
    rises = first == last or (low[0] < high[0] and low[1] < high[1])
    return rises and low[0] >= 0 and low[1] >= 0 and high[1] < relative_end


def check_transaction_index(data: Buffer, base_offset: int, end_offset: int) -> bool:
    """Whether these bytes are a transaction index with markers in [base_offset, end_offset)."""
    if len(data) % _ABORTED.size:
        return False
    previous = base_offset - 1
    for version, _, first, last, _ in _ABORTED.iter_unpack(data):
        if version != _ABORTED_VERSION or not (first <= last and previous < last < end_offset):
            return False
        previous = last
    return True
