"""Records shown to people: batches (magic 2) field by field and record by record, and message sets.

A record, like a message of magic 0 or 1, is one row: its bytes and its content. Compressed records
are decompressed first; their positions are then those in the decompressed bytes. A wrong checksum
and an incomplete batch are reported at their position, like everything that cannot be decoded.

Left out: whether a broker accepts the records (scan.py), and what keys and values mean.
"""

from __future__ import annotations

from ..batch import (
    CODEC_MASK,
    CONTROL,
    DELETE_HORIZON,
    HEADER_SIZE,
    LOG_APPEND_TIME,
    OVERHEAD,
    TRANSACTIONAL,
    BatchHeader,
    checksum,
    read_header,
)
from ..compression import Codec, decompress
from ..errors import WireError
from ..legacy.message_sets import Entry, crc_is_right, read_entry, read_head
from .walk import Misfit, Reading, shown

# Bytes that a batch may decompress to here, where it is only shown: 16 MiB.
LIMIT = 16 << 20

_MAGIC_AT = 16
_CODES = "qiibIhiqqqhii"
_CRC_AT = 17
_FLAGS = {
    LOG_APPEND_TIME: "log append time",
    TRANSACTIONAL: "transactional",
    CONTROL: "control",
    DELETE_HORIZON: "delete horizon",
}


def read_records(reading: Reading) -> None:
    """Read batches and messages to the end. Raises Misfit."""
    index = 0
    while reading.left:
        name = f"[{index}]"
        if reading.left <= _MAGIC_AT:
            raise reading.misfit(name, f"a cut batch: only {reading.left} bytes are left")
        magic = reading.buf[reading.pos + _MAGIC_AT]
        if magic == 2:
            _read_batch(reading, name)
        elif magic < 2:
            _read_message(reading, name)
        else:
            raise reading.misfit(f"{name}.magic", f"it is {magic}", reading.pos + _MAGIC_AT)
        index += 1


def _read_batch(reading: Reading, name: str) -> None:
    start = reading.pos
    reading.row(name, "record batch")
    with reading.inside(name):
        if reading.left < HEADER_SIZE:
            reason = f"{HEADER_SIZE} bytes are needed, {reading.left} are left"
            raise reading.misfit("header", reason)
        header = read_header(reading.buf, start)
        for field, code in zip(BatchHeader._fields, _CODES, strict=True):
            value = reading.number(code, field)
            reading.row(field, _attributes(value) if field == "attributes" else str(value))
        if not HEADER_SIZE <= header.size <= reading.end - start:
            reason = f"it is {header.batch_length}, {reading.end - start - OVERHEAD} bytes are left"
            raise reading.misfit("batch_length", reason, start + 8)
        right = checksum(reading.buf, start, header.size)
        if right != header.crc:
            reason = f"it is {header.crc}, that of the bytes is {right}"
            reading.misfits.append(reading.misfit("crc", reason, start + _CRC_AT))
        _read_payload(reading, header, start + header.size)


def _read_payload(reading: Reading, header: BatchHeader, end: int) -> None:
    if not header.attributes & CODEC_MASK:
        outer, reading.end = reading.end, end
        _read_all(reading, header)
        reading.end = outer
        return
    start = reading.pos
    packed = reading.take(end - start, "records")
    try:
        text = bytes(decompress(header.codec, packed, LIMIT)) if packed or header.count else b""
    except WireError as error:
        raise reading.misfit("records", str(error), start) from None
    codec = header.codec.name.lower()
    reading.row("records", f"{codec}, {len(packed)} bytes of {len(text)}")
    inner = Reading(text, unpacked=True)
    inner.depth, inner.path = reading.depth + 1, reading.path
    try:
        _read_all(inner, header)
    except Misfit as misfit:
        inner.give_up(misfit)
        raise
    finally:
        reading.rows += inner.rows


def _read_all(reading: Reading, header: BatchHeader) -> None:
    for index in range(header.count):
        _read_record(reading, header, f"record {index}")
    if reading.left or header.count < 0:
        raise reading.misfit("count", f"{header.count} records leave {reading.left} bytes over")


def _read_record(reading: Reading, header: BatchHeader, name: str) -> None:
    start = reading.pos
    size = reading.varint(f"{name}.length")
    end = reading.pos + size
    if not 0 <= size <= reading.left:
        reason = f"{size} bytes are announced, {reading.left} are left"
        raise reading.misfit(f"{name}.length", reason, start)
    reading.take(1, f"{name}.attributes")
    timestamp = header.base_timestamp + reading.varlong(f"{name}.timestamp_delta")
    if header.is_log_append_time:
        timestamp = header.max_timestamp
    offset = header.base_offset + reading.varint(f"{name}.offset_delta")
    key = _sized(reading, f"{name}.key")
    value = _sized(reading, f"{name}.value")
    said = [f"offset {offset}", f"time {timestamp}", f"key {shown(key)}", f"value {shown(value)}"]
    said += _headers(reading, f"{name}.headers")
    if reading.pos != end:
        reason = f"the record ends at byte {reading.pos}, its length says {end}"
        raise reading.misfit(f"{name}.length", reason, start)
    reading.row(name, ", ".join(said))


def _headers(reading: Reading, name: str) -> list[str]:
    at = reading.pos
    count = reading.varint(name)
    if not 0 <= count <= reading.left:
        reason = f"{count} headers are announced, {reading.left} bytes are left"
        raise reading.misfit(name, reason, at)
    said = []
    for index in range(count):
        at = reading.pos
        key = _sized(reading, f"{name}[{index}].key")
        if key is None:
            raise reading.misfit(f"{name}[{index}].key", "it is null", at)
        said.append(f"header {shown(key.decode(errors='replace'))}: ")
        said[-1] += shown(_sized(reading, f"{name}[{index}].value"))
    return said


def _sized(reading: Reading, name: str) -> bytes | None:
    size = reading.varint(name)
    return None if size < 0 else reading.take(size, name)


def _attributes(value: int) -> str:
    codec = value & CODEC_MASK
    said = [Codec(codec).name.lower() if codec in list(Codec) else f"codec {codec}"]
    said += [what for bit, what in _FLAGS.items() if value & bit]
    return f"{value} ({', '.join(said)})"


def _read_message(reading: Reading, name: str) -> None:
    """A message of magic 0 or 1, and those that it wraps."""
    start = reading.pos
    size = int.from_bytes(reading.buf[start + 8 : start + OVERHEAD], "big", signed=True)
    entry = Entry(start, OVERHEAD + size, reading.buf[start + _MAGIC_AT])
    if size < 14 or entry.size > reading.left:
        reason = f"it is {size}, {reading.left - OVERHEAD} bytes are left"
        raise reading.misfit(f"{name}.size", reason, start + 8)
    head = read_head(reading.buf, entry)
    reading.pos += entry.size
    if not crc_is_right(reading.buf, entry):
        misfit = reading.misfit(f"{name}.crc", f"{head.crc} is not that of the bytes", start + 12)
        reading.misfits.append(misfit)
    said = [f"magic {entry.magic}", f"offset {head.offset}", f"time {head.timestamp}"]
    said = said if entry.magic else [said[0], said[1]]
    try:
        messages = read_entry(reading.buf, entry, LIMIT)
    except WireError as error:
        reading.row(name, ", ".join(said))
        raise reading.misfit(name, str(error), start) from None
    if not head.attributes & CODEC_MASK:
        said += [f"key {shown(messages[0].key)}", f"value {shown(messages[0].value)}"]
        reading.row(name, ", ".join(said))
        return
    said.append(f"{Codec(head.attributes & CODEC_MASK).name.lower()}, wraps {len(messages)}")
    reading.row(name, ", ".join(said))
    with reading.inside(name):
        for index, (offset, timestamp, key, value) in enumerate(messages):
            inner = f"offset {offset}, time {timestamp}, key {shown(key)}, value {shown(value)}"
            reading.row(f"[{index}]", inner)
