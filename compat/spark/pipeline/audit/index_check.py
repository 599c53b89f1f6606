"""A segment's offset and time index, compared with its batches as they pass.

- Offset index: each entry gives the byte at which a batch begins, and the last offset of it, or of
  a later one that was appended with it. (Before magic 2 it was the first offset once.)
- Time index: no batch up to the one that holds an entry's offset is later than the entry's time,
  and that batch is as late. The last entry has the largest time of all, once the file is final.
- The index of a segment that was being written when its broker was killed ends with zeros, which
  the broker had reserved: there, entries count up to the first that does not rise.
- Entries of the two are added together, so an offset index without any beside a time index with
  several has lost them.

The first wrong entry is told, with its byte in the index file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .....storage.index import (
    NO_TIMESTAMP,
    OFFSET_ENTRY_SIZE,
    TIME_ENTRY_SIZE,
    offset_entries,
    time_entries,
)
from .....storage.naming import OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX
from .....wire.batch import MAGIC, BatchHeader
from .....wire.primitives import Buffer

_NONE = (1 << 62, 1 << 62)
SUFFIXES = (OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX)
"""Files that belong to a segment, besides its `.log`."""

Wrong = Callable[[str, int], None]
"""Told what is wrong, and at which byte of the index file."""


class OffsetIndexCheck:
    """The `.index` of one segment."""

    def __init__(self, base_offset: int, data: Buffer, wrong: Wrong, *, is_final: bool) -> None:
        self._base = base_offset
        self._wrong: Wrong | None = wrong
        self._entries = offset_entries(data) if is_final else _rising(offset_entries(data))
        self.count = -1
        """The number of the entry that is waited for: how many were right."""
        self._offset = self._position = self._last = -1
        self._advance()

    def batch(self, position: int, header: BatchHeader) -> None:
        """The next batch of the segment."""
        while position >= self._position:
            if position > self._position:
                self._is_wrong(f"no batch begins at byte {self._position} of the log")
            elif header[0] - self._base > self._offset:
                self._is_wrong(f"offset {self._base + self._offset} is before the batch it names")
            self._end_last()
            if header[3] >= MAGIC or header[0] - self._base != self._offset:
                self._last = self._offset
            self._advance()
        last = header[0] + header[6] - self._base
        if last == self._last:
            self._last = -1
        elif last > self._last >= 0:
            self._end_last()

    def end(self) -> None:
        """No more batches come."""
        self._end_last()
        if self._position != _NONE[0]:
            self._is_wrong(f"no batch begins at byte {self._position} of the log")

    def _end_last(self) -> None:
        """No further batch can have the offset of the last entry."""
        if self._last >= 0:
            offset = self._base + self._last
            self._is_wrong(f"{offset} is no batch's last offset", self.count - 1)
        self._last = -1

    def _advance(self) -> None:
        before = self._offset, self._position
        self._offset, self._position = next(self._entries, _NONE)
        self.count += 1
        if self._offset <= before[0] or self._position <= before[1]:
            self._is_wrong("it does not rise")

    def _is_wrong(self, what: str, count: int | None = None) -> None:
        if self._wrong is not None:
            number = self.count if count is None else count
            self._wrong(f"a wrong entry: {what}", number * OFFSET_ENTRY_SIZE)
        self._wrong = None


class TimeIndexCheck:
    """The `.timeindex` of one segment."""

    def __init__(self, base_offset: int, data: Buffer, wrong: Wrong, *, is_final: bool) -> None:
        self._base = base_offset
        self._wrong: Wrong | None = wrong
        self._is_final = is_final
        self._entries = time_entries(data) if is_final else _rising(time_entries(data))
        self._latest = self._last_time = NO_TIMESTAMP
        self._time = self._offset = -1
        self.count = -1
        """The number of the entry that is waited for: how many were right."""
        self._advance()

    def batch(self, header: BatchHeader) -> None:
        """The next batch of the segment."""
        if header[8] > self._latest:  # max_timestamp; by index, for this runs for every batch
            self._latest = header[8]
        last = header[0] + header[6] - self._base
        while last >= self._offset:
            if not self._time == self._latest == header[8]:
                offset = self._base + self._offset
                self._is_wrong(f"{self._time} is not the latest time up to offset {offset}")
            self._advance()

    def end(self) -> None:
        """No more batches come."""
        if self._offset != _NONE[1]:
            self._is_wrong(f"there is no offset {self._base + self._offset} in the log")
        elif self._is_final and self._last_time != self._latest >= 0:
            self._is_wrong(f"it ends before the latest time, {self._latest}")

    def _advance(self) -> None:
        before = self._time, self._offset
        if self.count >= 0:
            self._last_time = self._time
        self._time, self._offset = next(self._entries, _NONE)
        self.count += 1
        if self._time <= before[0] or self._offset <= before[1]:
            self._is_wrong("it does not rise")

    def _is_wrong(self, what: str) -> None:
        if self._wrong is not None:
            self._wrong(f"a wrong entry: {what}", self.count * TIME_ENTRY_SIZE)
        self._wrong = None


def _rising(entries: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    before = (-1, -1)
    for entry in entries:
        if entry[0] <= before[0] or entry[1] <= before[1] or entry == (0, 0):
            return
        yield entry
        before = entry
