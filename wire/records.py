"""Records of a batch, magic 2: reading them, building batches of them, transaction markers.

batch.py has the header of a batch; all its names can be imported from here too. A record is

    length varint (of what follows it), attributes int8 (unused), timestampDelta varlong,
    offsetDelta varint, key, value, header count varint, headers

where key, value and a header's key and value are a varint length (negative: null; a header's key
must not be null) and the bytes. Header keys are UTF-8; other bytes are decoded as surrogate escapes
and encoded unchanged. Sums of offsets and times wrap at 64 bits, as Java's do.

Rules: reading checks every length but not the CRC (`checksum` does). Any bytes either decode or
raise WireError, memory stays in proportion to the input (and to `limit` where it is compressed),
and nothing recurses.

Left out: magic 0 and 1 (legacy/message_sets.py), and what a broker accepts (scan.py and its
handlers). Source: the protocol guide, "Record" and "Control Batches"; KIP-98.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from struct import Struct
from struct import error as StructError
from typing import NamedTuple, TypeAlias

from .batch import (
    CODEC_MASK,
    CONTROL,
    DELETE_HORIZON,
    HEADER,
    HEADER_SIZE,
    LOG_APPEND_TIME,
    MAGIC,
    NO_SEQUENCE,
    NO_TIMESTAMP,
    OVERHEAD,
    TRANSACTIONAL,
    BatchHeader,
    assign,
    batches,
    checksum,
    read_header,
    restamp,
    seal,
)
from .compression import LIMIT, Codec, compress, decompress
from .errors import WireError
from .primitives import Buffer, read_varint, read_varlong, wrapped, write_varint

__all__ = [
    "CODEC_MASK",
    "CONTROL",
    "DELETE_HORIZON",
    "HEADER_SIZE",
    "LOG_APPEND_TIME",
    "MAGIC",
    "NO_SEQUENCE",
    "NO_TIMESTAMP",
    "OVERHEAD",
    "TRANSACTIONAL",
    "BatchHeader",
    "Headers",
    "Marker",
    "NewRecord",
    "Record",
    "assign",
    "batches",
    "build_batch",
    "checksum",
    "end_transaction_batch",
    "find_records",
    "read_header",
    "read_marker",
    "read_records",
    "restamp",
]


class Record(NamedTuple):
    """One record with its absolute offset and time (ms)."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


def read_records(
    batch: Buffer, pos: int = 0, limit: int = LIMIT, since: int | None = None
) -> list[Record]:
    """Read every record of the batch at `pos`, decompressing up to `limit` bytes; `since`: only
    those from this offset on. The others of a batch without gaps are passed over by their lengths.

    Raises WireError if it is not a complete batch of magic 2, if it cannot be decompressed, or if
    its bytes are not exactly `count` records. The CRC is not checked.
    """
    header, payload = _payload(batch, pos, limit)
    records: list[Record] = []
    passed = at = 0
    try:
        if since is not None and header.count == header.last_offset_delta + 1:
            passed = min(max(since - header.base_offset, 0), header.count)
            at = _pass_over(payload, passed)
        # A count that is too large fails at the end of the payload; nothing is allocated for it.
        for _ in range(header.count - passed):
            record, at = read_record(payload, at, header)
            records.append(record)
    except IndexError:
        read = passed + len(records)
        raise WireError(f"records cut short after {read} of {header.count}") from None
    if at != len(payload):
        raise WireError(f"{len(payload) - at} bytes after the last record")
    return records if since is None else [each for each in records if each.offset >= since]


def find_records(batch: Buffer, pos: int, text: bytes, limit: int = LIMIT) -> list[Record]:
    """Read the records of the batch at `pos` that have these bytes somewhere, be it across key and
    value; the others are passed over by their lengths. Raises WireError as `read_records` does."""
    header, payload = _payload(batch, pos, limit)
    records = []
    at, found = 0, payload.find(text)
    try:
        while found >= 0:
            size, begin = read_varint(payload, at)
            if not 0 < size <= len(payload) - begin:
                raise WireError(f"record of {size} bytes where {len(payload) - begin} are left")
            if found < begin + size:
                records.append(read_record(payload, at, header)[0])
                found = payload.find(text, begin + size)
            at = begin + size
    except IndexError:
        raise WireError(f"records cut short after byte {at}") from None
    return records


def _payload(batch: Buffer, pos: int, limit: int) -> tuple[BatchHeader, bytes]:
    """The header of the batch at `pos`, and its records, decompressed."""
    header = read_header(batch, pos)
    if header.magic != MAGIC:
        raise WireError(f"batch at byte {pos} has magic {header.magic}")
    if not HEADER_SIZE <= header.size <= len(batch) - pos:
        raise WireError(f"batch at byte {pos} says it has {header.size} bytes")
    if header.count < 0:
        raise WireError(f"batch at byte {pos} counts {header.count} records")
    payload = bytes(memoryview(batch)[pos + HEADER_SIZE : pos + header.size])
    if header.codec and (
        payload or header.count
    ):  # a batch that compaction has emptied holds no frame
        payload = bytes(decompress(header.codec, payload, limit))
    return header, payload


def _pass_over(buf: bytes, count: int) -> int:
    """The position after so many records. Raises WireError, IndexError."""
    at = 0
    for _ in range(count):
        size, at = read_varint(buf, at)
        if not 0 <= size <= len(buf) - at:
            raise WireError(f"record of {size} bytes where {len(buf) - at} are left")
        at += size
    return at


def read_record(buf: bytes, pos: int, header: BatchHeader) -> tuple[Record, int]:
    """Read the record at `pos` of the records of a batch; return it and the position after it.

    Raises WireError, or IndexError at the end of the bytes.
    """
    size, pos = read_varint(buf, pos)
    end = pos + size
    if end > len(buf):
        raise WireError(f"record of {size} bytes where {len(buf) - pos} are left")
    timestamp_delta, pos = read_varlong(buf, pos + 1)
    offset_delta, pos = read_varint(buf, pos)
    key, pos = _read_bytes(buf, pos)
    value, pos = _read_bytes(buf, pos)
    count, pos = read_varint(buf, pos)
    headers: tuple[tuple[str, bytes | None], ...] = ()
    if count:
        headers, pos = _read_headers(buf, pos, count)
    if pos != end:
        raise WireError(f"record ends at byte {pos}, its length says {end}")
    if header.attributes & LOG_APPEND_TIME:
        timestamp = header.max_timestamp
    else:
        timestamp = wrapped(header.base_timestamp + timestamp_delta)
    offset = wrapped(header.base_offset + offset_delta)
    return tuple.__new__(Record, (offset, timestamp, key, value, headers)), pos


def _read_bytes(buf: bytes, pos: int) -> tuple[bytes | None, int]:
    size, pos = read_varint(buf, pos)
    if size < 0:
        return None, pos
    end = pos + size
    if end > len(buf):
        raise WireError(f"{size} bytes of key or value where {len(buf) - pos} are left")
    return buf[pos:end], end


def _read_headers(
    buf: bytes, pos: int, count: int
) -> tuple[tuple[tuple[str, bytes | None], ...], int]:
    if not 0 <= count <= len(buf) - pos:
        raise WireError(f"{count} record headers where {len(buf) - pos} bytes are left")
    headers = []
    for _ in range(count):
        key, pos = _read_bytes(buf, pos)
        if key is None:
            raise WireError("record header without a key")
        value, pos = _read_bytes(buf, pos)
        headers.append((key.decode("utf-8", "surrogateescape"), value))
    return tuple(headers), pos


# Building batches.

Headers: TypeAlias = Sequence[tuple[str, Buffer | None]]


class NewRecord(NamedTuple):
    """A record for a new batch; its time in ms, -1 for none. A plain tuple works too."""

    timestamp: int
    key: Buffer | None = None
    value: Buffer | None = None
    headers: Headers = ()


def build_batch(
    records: Iterable[NewRecord | tuple[int, Buffer | None, Buffer | None, Headers]],
    *,
    base_offset: int = 0,
    offsets: Sequence[int] | None = None,
    last_offset_delta: int | None = None,
    codec: int = Codec.NONE,
    level: int | None = None,
    leader_epoch: int = -1,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = NO_SEQUENCE,
    transactional: bool = False,
    control: bool = False,
    log_append_time: int | None = None,
    delete_horizon: int | None = None,
) -> bytearray:
    """Build one batch, with its CRC.

    `offsets` are the records' deltas to the base offset (0, 1, 2, ... by default) and
    `last_offset_delta` is the last of them, unless given: compaction keeps both as they were.
    `log_append_time` (ms) sets bit 3 and maxTimestamp. `delete_horizon` (ms) sets bit 6 and
    baseTimestamp, which is otherwise the first record's time. Raises WireError for a number out of
    its range, or if `codec` cannot be used.
    """
    records = list(records)
    bounds = (min(offsets), max(offsets)) if offsets else (0, 0)
    offsets = range(len(records)) if offsets is None else offsets
    times = [record[0] for record in records] or [NO_TIMESTAMP]
    base = times[0] if delete_horizon is None else delete_horizon
    latest = max(times) if log_append_time is None else log_append_time
    last = (offsets[-1] if records else 0) if last_offset_delta is None else last_offset_delta
    attributes = LOG_APPEND_TIME * (log_append_time is not None) | TRANSACTIONAL * transactional
    attributes |= CONTROL * control | DELETE_HORIZON * (delete_horizon is not None)
    payload = b"".join(_write_records(records, offsets, base))
    if codec and records:
        attributes |= codec
        payload = compress(codec, payload, level)
    place = (base_offset, HEADER_SIZE - OVERHEAD + len(payload), leader_epoch, MAGIC, 0)
    producer = (producer_id, producer_epoch, base_sequence)
    try:
        _TIME_AND_OFFSETS.pack(min(times), *bounds)
        header = HEADER.pack(*place, attributes, last, base, latest, *producer, len(records))
    except StructError as error:
        raise WireError(f"a number does not fit a record batch: {error}") from error
    batch = bytearray(header)
    batch += payload
    seal(batch, 0, len(batch))
    return batch


_TIME_AND_OFFSETS = Struct(">qii")
_varint = lru_cache(4096)(write_varint)  # sizes and deltas repeat; the cache is C code


def _write_records(
    records: list[NewRecord | tuple[int, Buffer | None, Buffer | None, Headers]],
    offsets: Sequence[int],
    base_timestamp: int,
) -> list[Buffer]:
    written: list[Buffer] = []
    for (timestamp, key, value, headers), offset in zip(records, offsets, strict=True):
        parts: list[Buffer] = [b"\0", _varint(wrapped(timestamp - base_timestamp)), _varint(offset)]
        parts += _with_length(key)
        parts += _with_length(value)
        parts.append(_varint(len(headers)))
        for name, content in headers:
            parts += _with_length(_header_key(name))
            parts += _with_length(content)
        record = b"".join(parts)
        written += (_varint(len(record)), record)
    return written


def _with_length(content: Buffer | None) -> tuple[Buffer, ...]:
    return (_varint(-1),) if content is None else (_varint(len(content)), content)


def _header_key(name: str) -> bytes:
    try:
        return name.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise WireError(f"header key {name!r} cannot be encoded") from error


# Markers: one control record that ends a transaction in a partition.

_MARKER_KEY = Struct(">hh")  # version 0, type
_MARKER_VALUE = Struct(">hi")  # version 0, coordinator epoch
_ABORT = 0
_COMMIT = 1


class Marker(NamedTuple):
    """How a transaction ended, and the epoch of its coordinator."""

    commit: bool
    coordinator_epoch: int


def end_transaction_batch(
    commit: bool,
    *,
    base_offset: int,
    timestamp: int,
    producer_id: int,
    producer_epoch: int,
    coordinator_epoch: int,
    leader_epoch: int,
) -> bytearray:
    """Build the 78 bytes of a commit or abort marker.

    Raises WireError for a number out of its range. Source: KIP-98, "Transaction markers".
    """
    try:
        key = _MARKER_KEY.pack(0, _COMMIT if commit else _ABORT)
        value = _MARKER_VALUE.pack(0, coordinator_epoch)
    except StructError as error:
        raise WireError(f"coordinator epoch {coordinator_epoch} is out of range") from error
    return build_batch(
        [NewRecord(timestamp, key, value)],
        base_offset=base_offset,
        leader_epoch=leader_epoch,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        transactional=True,
        control=True,
    )


def read_marker(batch: Buffer, pos: int = 0) -> Marker:
    """Read the marker in the batch at `pos`, whose key and value may have newer versions.

    Raises WireError if it is not a control batch, or its first record is not a marker.
    """
    records = read_records(batch, pos)
    if not read_header(batch, pos).is_control or not records:
        raise WireError(f"no marker in the batch at byte {pos}")
    try:
        _, kind = _MARKER_KEY.unpack_from(records[0].key or b"")
        _, coordinator_epoch = _MARKER_VALUE.unpack_from(records[0].value or b"")
    except StructError:
        raise WireError(f"marker at byte {pos} is cut short") from None
    if kind not in (_ABORT, _COMMIT):
        raise WireError(f"control record of type {kind} ends no transaction")
    return Marker(kind == _COMMIT, coordinator_epoch)
