"""The records of many batches as columns, without an object a record.

One walk over the records of a batch (wire/walk.py) says where each key, value and header is. Arrow
then copies them out of the buffer: as the data of a binary array, the buffer has values in it with
gaps between them, and `take` picks the values. Batches that are not compressed are taken from the
window of the file as they are, others from what they decompress to.

For batches of magic 2 whose checksums are right; the scalar twin is in contents.py.

Decompressing a batch's records section, all at once.

wire/compression.py does this in small steps, because a broker has others waiting; that takes up to
three times as long. Here one step is tried first where it cannot take more memory than is allowed:
one frame of zstd, whose blocks say how large its content may be, and lz4 in the framing that
Kafka's clients write. Of anything else, damage included, the other decides what it is. What comes
out is the same.
"""

from __future__ import annotations

import lz4.frame
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import zstandard
from crc32c import crc32c

from ....wire.batch import CODEC_MASK, HEADER_SIZE, LOG_APPEND_TIME, OVERHEAD
from ....wire.compression import Codec, decompress
from ....wire.errors import WireError
from ....wire.primitives import Buffer
from ....wire.records import read_records
from ....wire.walk import DAMAGED, HEADER_FIELDS, RECORD_FIELDS, RECORD_SIZE_MIN, walk
from .contents import WRONG_CHECKSUM, Rows
from .runs import Heads, Run
from .schema import HEADERS

_zstd = zstandard.ZstdDecompressor()
_ZSTD_BLOCK_MAX = 128 << 10
_ZSTD_DESCRIPTOR_AT = 4
_ZSTD_HAS_CHECKSUM = 0x04
_ZSTD_REPEATED_BYTE = 1

_LZ4_FLAGS_AT = 4
_LZ4_PLAIN = 0x60
"""Independent blocks, no checksums, and no size that might be a lie."""
_LZ4_RATIO_MAX = 255
"""No byte of lz4 stands for more."""


def decompressed(codec: int, data: Buffer, limit: int) -> Buffer:
    """`data`, decompressed. Raises WireError as wire.compression.decompress does."""
    text = None
    if codec == Codec.ZSTD:
        text = _zstd_at_once(data, limit)
    elif codec == Codec.LZ4 and len(data) * _LZ4_RATIO_MAX <= limit:
        text = _lz4_at_once(data)
    return decompress(codec, data, limit) if text is None else text


def _zstd_at_once(data: Buffer, limit: int) -> bytes | None:
    try:
        room = _zstd_room(data, zstandard.frame_header_size(data))
        # A size that the frame tells is allocated, true or not.
        if room is None or max(room, zstandard.frame_content_size(data)) > limit:
            return None
        text: bytes = _zstd.decompress(data, max_output_size=room)
    except zstandard.ZstdError:
        return None
    return text


def _zstd_room(data: Buffer, pos: int) -> int | None:
    """The most that the blocks from `pos` on may hold; None if they are not all of `data`.

    A block begins with three bytes, least significant first: whether it is the last one (1 bit),
    its type (2), its size.
    """
    room, is_last = 0, 0
    while not is_last:
        if pos + 3 > len(data):
            return None
        head = data[pos] | data[pos + 1] << 8 | data[pos + 2] << 16
        is_last, kind, size = head & 1, head >> 1 & 3, head >> 3
        pos += 3 + (1 if kind == _ZSTD_REPEATED_BYTE else size)
        room += _ZSTD_BLOCK_MAX
    if data[_ZSTD_DESCRIPTOR_AT] & _ZSTD_HAS_CHECKSUM:
        pos += 4
    return room if pos == len(data) else None


def _lz4_at_once(data: Buffer) -> bytes | None:
    if len(data) <= _LZ4_FLAGS_AT or data[_LZ4_FLAGS_AT] != _LZ4_PLAIN:
        return None
    try:
        text: bytes = lz4.frame.decompress(data)
    except (RuntimeError, ValueError):
        return None
    return text


Table = npt.NDArray[np.int64]

_CRC_COVERS = 21
_PAYLOAD = HEADER_SIZE - _CRC_COVERS
_KEY, _VALUE = 0, 2
_TIME, _OFFSET, _HEADER_COUNT = 4, 5, 7


class Scratch:
    """Memory that is used again for the next batches: fresh memory is slow, page by page."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.records = np.empty((0, RECORD_FIELDS), np.int64)
        self.headers = np.empty((0, HEADER_FIELDS), np.int64)


class ColumnarDecoder:
    """Reads batches of magic 2 of one run, whose headers are `heads`.

    What comes of it is valid until the scratch is used again.
    """

    def __init__(
        self, run: Run, heads: Heads, limit: int, with_headers: bool, scratch: Scratch
    ) -> None:
        self.size = 0
        self._heads = heads
        self._view = run.buffer
        self._limit = limit
        self._with_headers = with_headers
        self._scratch = scratch
        ats = heads["position"] - run.position
        self._begins = (ats + _CRC_COVERS).tolist()
        self._ends = (ats + OVERHEAD + heads["batch_length"]).tolist()
        self._crcs = heads["crc"].tolist()
        self._counts = heads["count"].tolist()
        codecs = heads["attributes"] & CODEC_MASK
        self._codecs = codecs.tolist()
        self._is_packed = bool(codecs.any())
        self._batches = self._rows = self._header_rows = 0

    def add(self, index: int) -> None:
        begin, codec = self._begins[index], self._codecs[index]
        covered = self._view[begin : self._ends[index]]
        if crc32c(covered) != self._crcs[index]:
            raise WireError(WRONG_CHECKSUM)
        payload: Buffer = covered[_PAYLOAD:]
        if codec:
            payload = decompressed(codec, payload, self._limit)
        base = self.size if self._is_packed else begin + _PAYLOAD
        if not self._walk(payload, self._counts[index], base):
            read_records(self._view, begin - _CRC_COVERS, self._limit)  # says what is wrong
            raise WireError(f"{len(payload)} bytes are not {self._counts[index]} records")
        if self._is_packed:
            self._keep(payload)
        self.size += len(payload)
        self._batches += 1

    def _walk(self, payload: Buffer, count: int, base: int) -> bool:
        """Add the rows of a batch whose records section is at `base` of all data; False if it is
        not so many records."""
        scratch, rows = self._scratch, self._rows + count
        if not 0 <= count <= len(payload) // RECORD_SIZE_MIN:
            return False
        if rows > len(scratch.records):
            scratch.records = _grown(scratch.records, rows)
        records = scratch.records[self._rows :].data
        found = walk(payload, count, base, records, scratch.headers[self._header_rows :].data)
        if found == DAMAGED:
            return False
        if self._with_headers and found:
            total = self._header_rows + found
            if total > len(scratch.headers):
                scratch.headers = _grown(scratch.headers, total)
                walk(payload, count, base, records, scratch.headers[self._header_rows :].data)
            self._header_rows = total
        self._rows = rows
        return True

    def _keep(self, payload: Buffer) -> None:
        data, end = self._scratch.data, self.size + len(payload)
        if end > len(data):
            # A new one, for Arrow may still have a view of the old one.
            self._scratch.data = bytearray(max(end, 2 * len(data)))
            self._scratch.data[: self.size] = memoryview(data)[: self.size]
        self._scratch.data[self.size : end] = payload

    def contents(self) -> ColumnarContents:
        return ColumnarContents(
            self._heads[: self._batches],
            self._scratch.data if self._is_packed else self._view,
            self._scratch.records[: self._rows],
            self._scratch.headers[: self._header_rows],
        )


def _grown(table: Table, rows: int) -> Table:
    more = np.empty((max(rows, 2 * len(table)), table.shape[1]), np.int64)
    more[: len(table)] = table
    return more


class ColumnarContents:
    """Records where they are: tables of positions in one buffer."""

    def __init__(self, heads: Heads, buffer: Buffer, records: Table, headers: Table) -> None:
        self.counts = heads["count"].astype(np.int64)
        self.offsets = np.repeat(heads["base_offset"], self.counts) + records[:, _OFFSET]
        stamped = heads["attributes"] & LOG_APPEND_TIME != 0
        base = np.where(stamped, heads["max_timestamp"], heads["base_timestamp"])
        deltas = records[:, _TIME]
        if stamped.any():
            deltas = np.where(np.repeat(stamped, self.counts), 0, deltas)
        self.timestamps = np.repeat(base, self.counts) + deltas
        self._data = pa.py_buffer(buffer)
        self._records = records
        self._headers = headers

    def keys(self, rows: Rows | None) -> pa.Array:
        return _taken(self._data, self._records, _KEY, rows)

    def values(self, rows: Rows | None) -> pa.Array:
        return _taken(self._data, self._records, _VALUE, rows)

    def headers(self, rows: Rows | None) -> pa.Array:
        counts = self._records[:, _HEADER_COUNT]
        if not len(self._headers):
            return pa.nulls(len(counts) if rows is None else len(rows), HEADERS)
        keys = _text(_taken(self._data, self._headers, _KEY, None))
        values = _taken(self._data, self._headers, _VALUE, None)
        pairs = pa.StructArray.from_arrays([keys, values], fields=list(HEADERS.value_type))
        ends = np.zeros(len(counts) + 1, np.int32)
        np.cumsum(counts, out=ends[1:])
        lists = pa.ListArray.from_arrays(pa.array(ends), pairs, HEADERS, mask=pa.array(counts == 0))
        return lists if rows is None else lists.take(pa.array(rows))


def _taken(data: pa.Buffer, table: Table, column: int, rows: Rows | None) -> pa.Array:
    """The bytes at the positions and of the sizes in these columns of a table; -1 is null."""
    if rows is not None:
        table = table[rows]
    sizes = table[:, column + 1]
    bounds = np.empty((len(table), 2), np.int32)
    bounds[:, 0] = table[:, column]
    np.add(table[:, column], np.maximum(sizes, 0), out=bounds[:, 1], casting="unsafe")
    pieces = pa.BinaryArray.from_buffers(
        pa.binary(), max(0, 2 * len(table) - 1), [None, pa.py_buffer(bounds), data]
    )
    nulls = sizes < 0
    chosen = np.arange(0, 2 * len(table), 2, dtype=np.int32)
    return pieces.take(pa.array(chosen, mask=nulls if nulls.any() else None))


def _text(keys: pa.Array) -> pa.Array:
    """Headers' keys as text, bytes that are not UTF-8 replaced."""
    try:
        return keys.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([key.decode("utf-8", "replace") for key in keys.to_pylist()], pa.string())
