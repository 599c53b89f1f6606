"""Records as rows of 57 bytes: what they belong to, a hash of their content, where they are.

Two hashes of 128 bits (BLAKE2b): records with the same one count as equal. Values themselves are
never kept, so that what is compared is small whatever the records hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ...segments.wanted import Isolation, Wanted
from ..errors import PipelineError
from ..splits import Split

Rows: TypeAlias = npt.NDArray[np.void]

ROW = np.dtype(
    [
        ("i0", "<i8"),
        ("i1", "<i8"),
        ("c0", "<i8"),
        ("c1", "<i8"),
        ("side", "i1"),
        ("split", "<i4"),
        ("partition", "<i4"),
        ("offset", "<i8"),
    ]
)
"""Identity, content, 0 for A or 1 for B, number of the split, partition, and the offset; where a
file has none, the number of the record in its split."""
ROW_BYTES = ROW.itemsize
BATCH_BYTES_MAX = 256 << 20
_BINARY = ("key", "value")
_NULL = 0x6E6F_206B_6579
_US_PER_MS = 1_000
_NO_TIME = -(1 << 63)


@dataclass(frozen=True)
class Comparison:
    """A comparison. Picklable."""

    by: str
    """`offset`, `key` or `value`."""
    columns: tuple[str, ...]
    with_topic: bool
    """Whether records of different topics are different."""
    isolation: Isolation = "read_committed"

    @property
    def is_ordered(self) -> bool:
        """Whether records that belong together have an order."""
        return self.by == "key"

    @property
    def wanted(self) -> Wanted:
        needed = {*self.columns, "topic", "partition", "offset"}
        needed |= {self.by}
        return Wanted(columns=tuple(sorted(needed)), isolation=self.isolation)


def hashed(split: Split, side: int, number: int, comparison: Comparison) -> Iterator[Rows]:
    """A split's records as rows. Raises PipelineError where there are no offsets to compare by."""
    ordinal = 0
    for batch in split.read(comparison.wanted):
        for piece in _pieces(batch):
            rows = np.zeros(piece.num_rows, ROW)
            rows["side"], rows["split"] = side, number
            rows["partition"] = _numbers(piece["partition"], 0)
            rows["offset"] = np.arange(ordinal, ordinal + piece.num_rows)
            _identify(piece, rows, split, comparison)
            ordinal += piece.num_rows
            yield rows


def _pieces(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The batch in pieces that are small enough to be put together in one array."""
    if batch.nbytes <= BATCH_BYTES_MAX or batch.num_rows <= 1:
        if batch.num_rows:
            yield batch
        return
    half = batch.num_rows // 2
    yield from _pieces(batch.slice(0, half))
    yield from _pieces(batch.slice(half))


def _identify(batch: pa.RecordBatch, rows: Rows, split: Split, comparison: Comparison) -> None:
    offsets = batch["offset"]
    if offsets.null_count == 0:
        rows["offset"] = _numbers(offsets, 0)
    elif comparison.by == "offset":
        raise PipelineError(f"{split.name} has no offsets: use --by key or --by value")
    topics = _topics(batch["topic"]) if comparison.with_topic else 0
    content = digests(_content(batch, comparison.columns))
    rows["c0"], rows["c1"] = content[:, 0], content[:, 1] ^ topics
    if comparison.by == "offset":
        rows["i0"], rows["i1"] = rows["offset"], rows["partition"] + np.int64(topics)
        return
    column = batch[comparison.by]
    found = digests(column.fill_null(b""))
    is_null = column.is_null().to_numpy(zero_copy_only=False)
    rows["i0"] = np.where(is_null, rows["c0"] ^ _NULL, found[:, 0])
    rows["i1"] = np.where(is_null, rows["c1"], found[:, 1] ^ topics)


def _topics(column: pa.Array) -> npt.NDArray[np.int64]:
    found = column.dictionary_encode()
    names = [name.encode() for name in found.dictionary.to_pylist()]
    named: npt.NDArray[np.int64] = digests(pa.array(names, pa.binary()))[:, 0]
    indices: npt.NDArray[np.int64] = found.indices.to_numpy().astype(np.int64)
    return np.take(named, indices)


def _content(batch: pa.RecordBatch, columns: tuple[str, ...]) -> pa.Array:
    """The compared columns as one column of bytes, each with its length before all of them."""
    parts, numbers = [], []
    for name in columns:
        column = batch[name]
        if name in _BINARY:
            parts.append(column)
        elif name == "headers":
            column = _headers(column)
            parts.append(column)
        else:  # Kafka has milliseconds, a file may have less
            found = _numbers(column.cast(pa.int64()), _NO_TIME)
            numbers.append(np.where(found == _NO_TIME, found, found // _US_PER_MS))
            continue
        numbers.append(_numbers(pc.binary_length(column), -1))
    if not numbers:
        return pa.array([b""] * len(batch), pa.binary())
    joined = [_as_bytes(np.stack(numbers, axis=1)), *parts, b""]
    return pc.binary_join_element_wise(*joined, null_handling="replace", null_replacement=b"")


def _as_bytes(numbers: npt.NDArray[np.int64]) -> pa.Array:
    """Each row of numbers as bytes."""
    rows = np.ascontiguousarray(numbers, np.int64)
    width = rows.shape[1] * rows.itemsize
    fixed = pa.Array.from_buffers(pa.binary(width), len(rows), [None, pa.py_buffer(rows)])
    return fixed.cast(pa.binary())


def _headers(column: pa.Array) -> pa.Array:
    """The headers of each record as bytes, every name and value after its length; null for none."""
    counts = _numbers(pc.list_value_length(column), 0)
    if not counts.any():
        return pa.nulls(len(column), pa.binary())
    flat, parts = column.flatten(), []
    for name in ("key", "value"):
        each = pc.struct_field(flat, name).cast(pa.binary())
        parts += [_as_bytes(_numbers(pc.binary_length(each), -1).reshape(-1, 1)), each]
    headers = pc.binary_join_element_wise(
        *parts, b"", null_handling="replace", null_replacement=b""
    )
    bounds = pa.array(np.concatenate([[0], np.cumsum(counts)]), pa.int32())
    joined = pc.binary_join(pa.ListArray.from_arrays(bounds, headers), b"")
    return pc.if_else(pa.array(counts > 0), joined, pa.scalar(None, pa.binary()))


def _numbers(column: pa.Array, null: int) -> npt.NDArray[np.int64]:
    found = pc.fill_null(column.cast(pa.int64()), null)
    return np.asarray(found.to_numpy(zero_copy_only=False), np.int64)


def digests(column: pa.Array) -> npt.NDArray[np.int64]:
    """Two numbers for each value; the column has no nulls."""
    if not len(column):
        return np.empty((0, 2), np.int64)
    _, ends, data = column.buffers()
    bounds = np.frombuffer(ends, np.int32)[column.offset : column.offset + len(column) + 1].tolist()
    view = memoryview(data) if data is not None else memoryview(b"")
    found = b"".join(
        blake2b(view[start:end], digest_size=16).digest() for start, end in pairwise(bounds)
    )
    return np.frombuffer(found, np.int64).reshape(-1, 2)
