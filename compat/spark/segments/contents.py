"""The contents of batches: offsets, times, keys, values and headers of their records, as columns.

`Contents` is what a decoder makes of some batches. This module has the scalar one, which reads one
record after the other, by wire/records.py and wire/legacy: for every format and every batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ....wire.errors import WireError
from ....wire.legacy.as_batches import is_intact, read_logged
from ....wire.records import Record
from .runs import Heads, Run, header_of
from .schema import HEADERS

WRONG_CHECKSUM = "wrong checksum"

Rows = npt.NDArray[np.int64]
"""Indices of records; None stands for all."""


class Contents(Protocol):
    """The records of some batches, one after the other."""

    counts: npt.NDArray[np.int64]
    """How many records each batch has."""
    offsets: npt.NDArray[np.int64]
    timestamps: npt.NDArray[np.int64]
    """Milliseconds."""

    def keys(self, rows: Rows | None) -> pa.Array:
        """The keys of these records, binary."""
        ...

    def values(self, rows: Rows | None) -> pa.Array:
        """Their values, binary."""
        ...

    def headers(self, rows: Rows | None) -> pa.Array:
        """Their headers; null where there are none."""
        ...


class ScalarContents:
    """Records that were read one by one."""

    def __init__(self, batches: Sequence[list[Record]]) -> None:
        self._records = [record for records in batches for record in records]
        self.counts = np.array([len(records) for records in batches], np.int64)
        self.offsets = np.array([record.offset for record in self._records], np.int64)
        self.timestamps = np.array([record.timestamp for record in self._records], np.int64)

    def keys(self, rows: Rows | None) -> pa.Array:
        return _taken(pa.array([record.key for record in self._records], pa.binary()), rows)

    def values(self, rows: Rows | None) -> pa.Array:
        return _taken(pa.array([record.value for record in self._records], pa.binary()), rows)

    def headers(self, rows: Rows | None) -> pa.Array:
        found = [
            [{"key": _text(key), "value": value} for key, value in record.headers] or None
            for record in self._records
        ]
        return _taken(pa.array(found, HEADERS), rows)


class Decoder(Protocol):
    """Makes the contents of some batches, one after the other."""

    size: int
    """Bytes of their records."""

    def add(self, index: int) -> None:
        """Read one of the batches. Raises WireError; it is then as if this had not been called."""
        ...

    def contents(self) -> Contents:
        """The contents read so far."""
        ...


class ScalarDecoder:
    """Reads batches of a run, whose headers are `heads`, record by record: those of magic 2, and
    messages of magic 0 and 1. Without `is_checked` their checksums may be wrong."""

    def __init__(self, run: Run, heads: Heads, limit: int, is_checked: bool = True) -> None:
        self.size = 0
        self._run = run
        self._heads = heads
        self._limit = limit
        self._is_checked = is_checked
        self._batches: list[list[Record]] = []

    def add(self, index: int) -> None:
        header = header_of(self._heads, index)
        at = int(self._heads["position"][index]) - self._run.position
        if self._is_checked and not is_intact(self._run.buffer, at, header):
            raise WireError(WRONG_CHECKSUM)
        records = read_logged(self._run.buffer, at, self._limit)
        self.size += sum(len(each.key or b"") + len(each.value or b"") for each in records)
        self._batches.append(records)

    def contents(self) -> ScalarContents:
        return ScalarContents(self._batches)


def _taken(array: pa.Array, rows: Rows | None) -> pa.Array:
    return array if rows is None else array.take(pa.array(rows))


def _text(key: str) -> str:
    """A header's key, its bytes that are not UTF-8 replaced."""
    return key.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
