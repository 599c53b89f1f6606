"""A segment's `.txnindex`, compared with the markers as they pass.

Each aborted transaction with data has an entry: producer, first offset, the marker's offset, and
the last stable offset once the marker is there. What began in an earlier segment is known from the
producer snapshot at this segment's base; without one, only what begins here is compared in full.

Compaction removes data and markers, not entries: of a compacted segment an index that is there is
only read, and one that is missing is told where aborted data is left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .....storage.index import TransactionIndex, check_transaction_index
from .....storage.producers import AbortedTransaction
from .....wire.batch import BatchHeader
from .....wire.records import Marker

ENTRY_SIZE = 34

Wrong = Callable[[str, int | None, int | None], None]
"""Told what is wrong, at which byte of the index, and at which offset."""


class AbortedCheck:
    """The `.txnindex` of one segment. `carried`: producers and the first offsets of the
    transactions that are open at its base; None if that is not known. `data`: None if there is no
    such file."""

    def __init__(self, data: bytes | None, carried: Mapping[int, int] | None, wrong: Wrong) -> None:
        whole = memoryview(data or b"")
        self._stored = TransactionIndex(whole[: len(whole) // ENTRY_SIZE * ENTRY_SIZE]).entries()
        self._data = data
        self._open: dict[int, int] = dict(carried or {})
        self._knows_all = carried is not None
        self._index = 0
        self._first_wrong: tuple[str, int | None, int | None] | None = None
        self._wrong = wrong

    def data_batch(self, header: BatchHeader) -> None:
        """The next transactional data batch."""
        self._open.setdefault(header.producer_id, header.base_offset)

    def marker(self, header: BatchHeader, marker: Marker) -> None:
        """The next marker."""
        first = self._open.pop(header.producer_id, None)
        if marker.commit:
            return
        stored = self._next()
        if first is None:
            if not self._knows_all and stored and stored.last_offset == header.last_offset:
                self._index += 1
            return
        stable = min(self._open.values(), default=header.last_offset + 1)
        expected = AbortedTransaction(header.producer_id, first, header.last_offset, stable)
        if not self._knows_all and stored is not None:
            expected = expected._replace(last_stable_offset=stored.last_stable_offset)
        if stored == expected:
            self._index += 1
            return
        is_missing = stored is None or stored.last_offset > header.last_offset
        what = "has no entry of" if is_missing else "has a wrong entry of"
        self._tell(f"{what} the aborted transaction of producer {header.producer_id}", first)
        self._index += not is_missing

    def end(
        self, end_offset: int, base_offset: int, *, is_compacted: bool
    ) -> tuple[str, int] | None:
        """No more batches come; the segment's offsets end at `end_offset`. What is wrong, and at
        which byte, if that can be because compaction has removed a marker."""
        if self._data and not check_transaction_index(self._data, base_offset, end_offset):
            self._wrong("cannot be read: its size, a version or an offset is wrong", 0, None)
        elif is_compacted and self._data:
            return self._unmatched()
        elif self._first_wrong is not None:
            self._wrong(*self._first_wrong)
        elif (unmatched := self._unmatched()) is not None:
            self._wrong(*unmatched, None)
        return None

    def _unmatched(self) -> tuple[str, int] | None:
        if self._next() is None:
            return None
        byte = self._index * ENTRY_SIZE
        return "has an entry of a transaction that did not abort here", byte

    def _next(self) -> AbortedTransaction | None:
        return self._stored[self._index] if self._index < len(self._stored) else None

    def _tell(self, what: str, offset: int) -> None:
        if self._first_wrong is None:
            byte = self._index * ENTRY_SIZE if self._data is not None else None
            self._first_wrong = what, byte, offset
