"""Records of Arrow as batches of magic 2.

Nothing is done record by record: numpy computes the varints of all of them, and Arrow joins these
with keys, values and headers. The bytes are those of `build_batch` in wire/records.py, which takes
several times as long.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from crc32c import crc32c

from ....wire.batch import HEADER, HEADER_SIZE, MAGIC, NO_SEQUENCE, OVERHEAD
from ....wire.compression import compress
from .schema import CODECS, HEADERS

Ints = npt.NDArray[np.int64]

RECORDS_IN_BATCH: Final = 10_000
BATCH_BYTES: Final = 900_000
"""Of records before compression: below a broker's default of `max.message.bytes`."""
_JOINED_MAX = 256 << 20
_RECORD_OVERHEAD = 30
"""Bytes of a record besides its contents, at most."""
_DELTA_MAX = (1 << 31) - 1
_CRC_COVERS = 21
_MS = pa.timestamp("ms", tz="UTC")


def encode(
    records: pa.RecordBatch | pa.Table,
    *,
    base_offset: int = 0,
    keep_offsets: bool = False,
    codec: str = "none",
    level: int | None = None,
    records_in_batch: int = RECORDS_IN_BATCH,
    batch_bytes: int = BATCH_BYTES,
    leader_epoch: int = 0,
    now_ms: int | None = None,
) -> list[bytes]:
    """Batches of these records, in their order.

    The columns are those of schema.RECORD_COLUMNS: `value`, and if they are there `key`, `headers`,
    `timestamp` (or int64 milliseconds; where it is missing or null the time is `now_ms`, which is
    the present by default). Others are ignored. Offsets count from `base_offset`; with
    `keep_offsets` they are those of the column `offset`, which must ascend. A batch takes up to
    `records_in_batch` records and about `batch_bytes` before compression. Raises ValueError for
    columns or codecs that cannot be used, WireError for a level that does not exist.
    """
    if codec not in CODECS:
        raise ValueError(f"there is no codec {codec!r}, but {', '.join(CODECS)}")
    found: list[bytes] = []
    for piece in _pieces(records):
        columns = _Columns(piece, base_offset, keep_offsets, now_ms)
        starts = columns.batch_starts(records_in_batch, batch_bytes)
        payloads = columns.payloads(starts)
        for start, end, payload in zip(starts, [*starts[1:], columns.size], payloads, strict=True):
            head = columns.head(start, end, CODECS.index(codec), leader_epoch)
            found.append(_batch(head, compress(CODECS.index(codec), payload, level)))
        base_offset += columns.size
    return found


def _pieces(records: pa.RecordBatch | pa.Table) -> Iterator[pa.RecordBatch]:
    """The records in pieces that are small enough to be joined."""
    if isinstance(records, pa.Table):
        for batch in records.to_batches():
            yield from _pieces(batch)
    elif records.num_rows > 1 and records.nbytes > _JOINED_MAX:
        half = records.num_rows // 2
        yield from _pieces(records.slice(0, half))
        yield from _pieces(records.slice(half))
    elif records.num_rows:
        yield records


def _batch(head: list[int], payload: bytes) -> bytes:
    """The batch with this header, but for its length and CRC, and these records."""
    head[1] = HEADER_SIZE - OVERHEAD + len(payload)
    header = bytearray(HEADER.pack(*head))
    head[4] = crc32c(payload, crc32c(bytes(header[_CRC_COVERS:])))
    return HEADER.pack(*head) + payload


class _Columns:
    """Some records, each column in the form in which it is encoded."""

    def __init__(
        self, records: pa.RecordBatch, base_offset: int, keep_offsets: bool, now_ms: int | None
    ) -> None:
        names = records.schema.names
        if "value" not in names:
            raise ValueError(f"there is no column 'value', but {', '.join(names)}")
        self.size: int = records.num_rows
        self._values = _binary(records.column("value"), "value")
        nothing = pa.nulls(self.size, pa.binary())
        self._keys = _binary(records.column("key"), "key") if "key" in names else nothing
        self._times = _times(records.column("timestamp") if "timestamp" in names else None, now_ms)
        if len(self._times) != self.size:
            self._times = np.repeat(self._times, self.size)
        self._header_counts, self._headers = _header_bytes(
            records.column("headers") if "headers" in names else None, self.size
        )
        self._offsets = base_offset + np.arange(self.size)
        if keep_offsets:
            self._offsets = _ascending(records, base_offset)

    def batch_starts(self, records_in_batch: int, batch_bytes: int) -> list[int]:
        """The index of each batch's first record."""
        sizes = [_sizes(each) for each in (self._keys, self._values, self._headers)]
        ends = np.cumsum(np.maximum(sizes[0], 0) + np.maximum(sizes[1], 0) + sizes[2])
        ends += _RECORD_OVERHEAD * np.arange(1, self.size + 1)
        starts, start = [], 0
        while start < self.size:
            starts.append(start)
            before = ends[start - 1] if start else 0
            most = [
                start + records_in_batch,
                int(np.searchsorted(ends, before + batch_bytes, "right")),
                int(np.searchsorted(self._offsets, self._offsets[start] + _DELTA_MAX, "right")),
            ]
            start = max(start + 1, min(most))
        return starts

    def payloads(self, starts: Sequence[int]) -> Iterator[memoryview]:
        """The records section of each batch, not compressed."""
        lengths = np.diff([*starts, self.size])
        deltas = self._offsets - np.repeat(self._offsets[list(starts)], lengths)
        times = self._times - np.repeat(self._times[list(starts)], lengths)
        keys, values = _sizes(self._keys), _sizes(self._values)
        zeros = np.zeros(self.size, np.int64)
        middle = _varints(values)
        front = _varints(zeros, times, deltas, keys)
        end = _varints(self._header_counts)
        sizes = _sizes(front) + np.maximum(keys, 0) + _sizes(middle) + np.maximum(values, 0)
        sizes += _sizes(end) + _sizes(self._headers)
        parts = [_varints(sizes), front, self._keys, middle, self._values, end, self._headers]
        joined = _joined(parts)
        offsets = np.frombuffer(joined.buffers()[1], np.int32)[: self.size + 1]
        data = memoryview(joined.buffers()[2])
        bounds = offsets[[*starts, self.size]].tolist()
        for start, stop in pairwise(bounds):
            yield data[start:stop]

    def head(self, start: int, end: int, codec: int, leader_epoch: int) -> list[int]:
        """The header of the batch of records [start, end), in its order."""
        base = int(self._offsets[start])
        delta = int(self._offsets[end - 1]) - base
        times = int(self._times[start]), int(self._times[start:end].max())
        place = base, 0, leader_epoch, MAGIC, 0
        return [*place, codec, delta, *times, -1, -1, NO_SEQUENCE, end - start]


def _binary(column: pa.Array, name: str) -> pa.Array:
    try:
        return column.cast(pa.binary())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ValueError(f"the column {name!r} is {column.type}, not binary: {error}") from error


def _times(column: pa.Array | None, now_ms: int | None) -> Ints:
    now_ms = int(time.time() * 1000) if now_ms is None else now_ms
    if column is None:
        return np.array([now_ms])
    if pa.types.is_timestamp(column.type):
        column = _milliseconds(column)
    try:
        times: Ints = column.cast(pa.int64()).fill_null(now_ms).to_numpy(zero_copy_only=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ValueError(f"the column 'timestamp' is {column.type}, not a time") from error
    return times


def _milliseconds(column: pa.Array) -> pa.Array:
    """Times as milliseconds, rounded down: a time before 1970 too."""
    per_ms = {"s": None, "ms": 1, "us": 1000, "ns": 1_000_000}[column.type.unit]
    numbers = column.cast(pa.int64())
    if per_ms is None:
        return pc.multiply_checked(numbers, 1000)
    values = numbers.fill_null(0).to_numpy(zero_copy_only=False) // per_ms
    return pa.array(values, mask=np.asarray(numbers.is_null()))


def _ascending(records: pa.RecordBatch, base_offset: int) -> Ints:
    if "offset" not in records.schema.names:
        raise ValueError("there is no column 'offset' to keep")
    column = records.column("offset")
    if column.null_count:
        raise ValueError("the column 'offset' has nulls")
    offsets: Ints = column.cast(pa.int64()).to_numpy(zero_copy_only=False)
    if offsets[0] < base_offset or (np.diff(offsets) <= 0).any():
        raise ValueError(f"the offsets do not ascend from {base_offset}")
    return offsets


def _header_bytes(column: pa.Array | None, size: int) -> tuple[Ints, pa.Array]:
    """How many headers each record has, and their bytes."""
    if column is None or column.null_count == size:
        return np.zeros(size, np.int64), pa.array([b""], pa.binary()).take([0] * size)
    column = column.cast(HEADERS)
    counts: Ints = pc.list_value_length(column).fill_null(0).to_numpy().astype(np.int64)
    each = column.flatten()
    keys, values = _binary(each.field("key"), "headers"), _binary(each.field("value"), "headers")
    if keys.null_count or each.null_count:
        raise ValueError("a header has no key")
    joined = _joined([_varints(_sizes(keys)), keys, _varints(_sizes(values)), values])
    ends = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
    return counts, pc.binary_join(pa.ListArray.from_arrays(pa.array(ends), joined), b"")


def _joined(parts: Sequence[pa.Array]) -> pa.Array:
    """The bytes of all parts, row by row; null is none."""
    return pc.binary_join_element_wise(*parts, b"", null_handling="replace", null_replacement=b"")


def _sizes(column: pa.Array) -> Ints:
    """The length of each; -1 for null."""
    sizes: Ints = pc.binary_length(column).fill_null(-1).to_numpy(zero_copy_only=False)
    return sizes.astype(np.int64)


def _varints(*columns: Ints) -> pa.Array:
    """Zigzag varints of the numbers of each row, one after the other."""
    bytes_of, used = [], []
    for values in columns:
        left = ((values << 1) ^ (values >> 63)).view(np.uint64)
        here = np.ones(len(values), np.bool_)
        while True:
            rest = left >> np.uint64(7)
            more = rest != 0
            bytes_of.append(((left & np.uint64(0x7F)) | (more * np.uint64(0x80))).astype(np.uint8))
            used.append(here)
            if not more.any():
                break
            left, here = rest, more
    mask = np.stack(used, axis=1)
    data = np.stack(bytes_of, axis=1)[mask]
    ends = np.zeros(len(mask) + 1, np.int32)
    np.cumsum(mask.sum(axis=1), out=ends[1:])
    buffers: list[Any] = [None, pa.py_buffer(ends), pa.py_buffer(data)]
    return pa.BinaryArray.from_buffers(pa.binary(), len(mask), buffers)
