"""Message sets, magic 0 and 1: what producers sent and logs held before record batches.

A set is consecutive entries, without a count; the last one may be incomplete. An entry is

    offset int64, size int32 (of what follows it), crc uint32 (CRC-32 of everything after it),
    magic int8, attributes int8, timestamp int64 (magic 1 only),
    key and value: an int32 length (negative: null) and the bytes

Attributes: bits 0-2 codec, 3 log append time (magic 1). An entry with a codec is a wrapper: its
key is null and its value a compressed set. The wrapper has the offset of its last inner message.
Inner offsets are absolute in magic 0, and relative in magic 1: they are shifted so that the last
one is the wrapper's (not if that is 0: early librdkafka left it so). The timestamp of a wrapper
with bit 3 is that of all inner messages. In magic 0 the header checksum of an lz4 frame is wrong.

Rules: any bytes either decode or raise WireError; it is a DamagedSet where a broker answers
another error than "unexpected". No CRC is checked unless asked for. Wrappers inside wrappers are
refused, so nothing recurses; at most `limit` bytes are decompressed. Bytes after a value are
ignored, as brokers do.

Left out: zstd, which these formats never had. Of magic 2 only offset, size and magic are read here,
which are at the same positions: batch.py and records.py have the rest.
Source: the chapters "Message format" and "Messages" for 0.8 to 0.10; KIP-31, KIP-32; the answers
of Kafka 3.9.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from struct import Struct
from struct import error as StructError
from typing import NamedTuple
from zlib import crc32

from ..batch import CODEC_MASK, LOG_APPEND_TIME, NO_TIMESTAMP, OVERHEAD
from ..compression import LIMIT, Codec, break_lz4_checksum, compress, decompress, mend_lz4_checksum
from ..errors import Error, WireError
from ..primitives import Buffer

_SIZE = Struct(">8xi")
_MAGIC = Struct(">16xb")
_HEAD = Struct(">qiIbb")
_TIME = Struct(">q")
_LENGTH = Struct(">i")
_CRC = Struct(">I")
_OFFSET_SIZE_CRC = Struct(">qiI")
_CRC_AT = 12
_CRC_COVERS = 16
_SMALLEST = 14
"""Bytes after the size of a message of magic 0 that has neither key nor value."""
_NEWEST = 2


class DamagedSet(WireError):
    """A set that a broker refuses; `error` is its answer."""

    def __init__(self, error: Error, message: str) -> None:
        super().__init__(message)
        self.error = error


class Entry(NamedTuple):
    """The position of an entry in its buffer, and its magic; with magic 2 it is a whole batch."""

    pos: int
    size: int
    """Bytes from its offset on."""
    magic: int


class Head(NamedTuple):
    """The fields before the key of an entry of magic 0 or 1; timestamp in ms, -1 for none."""

    offset: int
    crc: int
    magic: int
    attributes: int
    timestamp: int

    @property
    def codec(self) -> int:
        """The codec of the set in its value, 0 for a plain message; 5-7 do not exist."""
        return self.attributes & CODEC_MASK

    @property
    def is_log_append_time(self) -> bool:
        """True when a broker set the timestamp."""
        return self.magic > 0 and self.attributes & LOG_APPEND_TIME != 0


class Message(NamedTuple):
    """One message with its absolute offset and time (ms; -1 in magic 0)."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None


def entries(
    buf: Buffer, pos: int = 0, end: int | None = None, *, any_magic: bool = False
) -> Iterator[Entry]:
    """Yield each complete entry in buf[pos:end], up to an incomplete one.

    Raises DamagedSet for a size that no message has, and for a magic other than 0, 1 and 2 unless
    `any_magic`: inside wrappers Kafka checks it later.
    """
    end = len(buf) if end is None else end
    while end - pos >= OVERHEAD:
        (size,) = _SIZE.unpack_from(buf, pos)
        if size < _SMALLEST:
            raise DamagedSet(Error.CORRUPT_MESSAGE, f"entry of {size} bytes at byte {pos}")
        if end - pos < _MAGIC.size:
            return
        (magic,) = _MAGIC.unpack_from(buf, pos)
        if not any_magic and not 0 <= magic <= _NEWEST:
            raise DamagedSet(Error.CORRUPT_MESSAGE, f"entry of magic {magic} at byte {pos}")
        if end - pos < OVERHEAD + size:
            return
        yield Entry(pos, OVERHEAD + size, magic)
        pos += OVERHEAD + size


def read_head(buf: Buffer, entry: Entry) -> Head:
    """Read the fields before the key; an entry is never too short for them. Checks nothing."""
    offset, _, crc, magic, attributes = _HEAD.unpack_from(buf, entry.pos)
    timestamp = NO_TIMESTAMP
    if magic:
        (timestamp,) = _TIME.unpack_from(buf, entry.pos + _HEAD.size)
    return Head(offset, crc, magic, attributes, timestamp)


def crc_is_right(buf: Buffer, entry: Entry) -> bool:
    """Whether the checksum of the entry, of magic 0 or 1, is right."""
    (crc,) = _CRC.unpack_from(buf, entry.pos + _CRC_AT)
    with memoryview(buf) as view, view[entry.pos + _CRC_COVERS : entry.pos + entry.size] as covered:
        return bool(crc32(covered) == crc)


def has_key(buf: Buffer, entry: Entry) -> bool:
    """Whether a message has a key. Raises WireError if it ends before the key's length."""
    at = _key_at(entry)
    if at + _LENGTH.size > entry.pos + entry.size:
        raise WireError(f"message at byte {entry.pos} ends before its key")
    return bool(_LENGTH.unpack_from(buf, at)[0] >= 0)


def read_key_and_value(buf: Buffer, entry: Entry) -> tuple[bytes | None, bytes | None]:
    """Read key and value of an entry of magic 0 or 1. Raises WireError if they exceed the entry."""
    end = entry.pos + entry.size
    key, pos = _sized(buf, _key_at(entry), end)
    value, _ = _sized(buf, pos, end)
    return key, value


def _key_at(entry: Entry) -> int:
    return entry.pos + _HEAD.size + (_TIME.size if entry.magic else 0)


def _sized(buf: Buffer, pos: int, end: int) -> tuple[bytes | None, int]:
    start = pos + _LENGTH.size
    if start > end:
        raise WireError(f"message ends at byte {end}, before a length at byte {pos}")
    (size,) = _LENGTH.unpack_from(buf, pos)
    if size < 0:
        return None, start
    if size > end - start:
        raise WireError(f"{size} bytes of key or value where {end - start} are left")
    return bytes(buf[start : start + size]), start + size


def unwrap(buf: Buffer, entry: Entry, limit: int = LIMIT) -> tuple[Buffer, list[Entry]]:
    """Decompress a wrapper: its content, of at most `limit` bytes, and the entries in it.

    The entries may have any magic and any CRC, and may be wrappers. Raises DamagedSet or, where
    the value cannot be decompressed, WireError.
    """
    head = read_head(buf, entry)
    if head.codec == Codec.ZSTD:
        raise DamagedSet(Error.INVALID_RECORD, f"zstd in a message of magic {entry.magic}")
    _, value = read_key_and_value(buf, entry)
    if value is None:
        raise DamagedSet(Error.INVALID_RECORD, f"wrapper at byte {entry.pos} without a value")
    packed: Buffer = value
    if head.codec == Codec.LZ4 and not entry.magic:
        packed = mend_lz4_checksum(value)
    text = decompress(head.codec, packed, limit)
    inner = list(entries(text, any_magic=True))
    if not inner:
        raise DamagedSet(Error.INVALID_RECORD, f"wrapper at byte {entry.pos} with no messages")
    last = read_head(text, inner[-1]).offset
    if entry.magic and head.offset != 0 and head.offset < last:
        raise DamagedSet(
            Error.INVALID_RECORD, f"wrapper with offset {head.offset} of a message with {last}"
        )
    return text, inner


def check_not_wrapped(text: Buffer, inner: Entry) -> None:
    """Raises WireError if an entry inside a wrapper is compressed itself."""
    codec = read_head(text, inner).codec
    if codec > Codec.ZSTD:
        raise WireError(f"there is no compression codec {codec}")
    if codec:
        raise DamagedSet(Error.INVALID_RECORD, f"wrapper inside a wrapper, at byte {inner.pos}")


def read_entry(buf: Buffer, entry: Entry, limit: int = LIMIT) -> list[Message]:
    """Read the messages of one entry of magic 0 or 1: itself, or those in the wrapper.

    Raises WireError if they are damaged, or hold more than `limit` bytes when decompressed. CRCs
    are not checked.
    """
    head = read_head(buf, entry)
    if entry.magic >= _NEWEST:
        raise WireError(f"entry of magic {entry.magic} at byte {entry.pos} is no message")
    if not head.codec:
        return [Message(head.offset, head.timestamp, *read_key_and_value(buf, entry))]
    text, inner = unwrap(buf, entry, limit)
    heads = [read_head(text, each) for each in inner]
    moved = head.offset - heads[-1].offset if entry.magic and head.offset else 0
    messages = []
    for each, its in zip(inner, heads, strict=True):
        check_not_wrapped(text, each)
        if each.magic != entry.magic:
            raise DamagedSet(Error.INVALID_RECORD, f"magic {each.magic} inside {entry.magic}")
        timestamp = head.timestamp if head.is_log_append_time else its.timestamp
        messages.append(
            Message(its.offset + moved, timestamp, *read_key_and_value(text, each)),
        )
    return messages


def read_messages(buf: Buffer, limit: int = LIMIT) -> list[Message]:
    """Read every message of a set, inside wrappers too, up to an incomplete entry.

    Raises WireError for damage, magic 2, or when the wrappers together hold more than `limit`
    bytes. CRCs are not checked.
    """
    messages = []
    for entry in entries(buf):
        found = read_entry(buf, entry, limit)
        if read_head(buf, entry).codec:
            limit -= sum(_SMALLEST + len(m.key or b"") + len(m.value or b"") for m in found)
        messages += found
    return messages


# Building sets.


def build_message(
    message: Message | tuple[int, int, Buffer | None, Buffer | None],
    magic: int,
    attributes: int = 0,
) -> bytes:
    """Build one entry, with its CRC; magic 0 has no timestamp.

    Raises WireError for a number out of its range.
    """
    offset, timestamp, key, value = message
    try:
        parts: list[Buffer] = [bytes((magic, attributes))]
        if magic:
            parts.append(_TIME.pack(timestamp))
        for content in (key, value):
            parts.append(_LENGTH.pack(-1 if content is None else len(content)))
            parts.append(content or b"")
        body = b"".join(parts)
        return _OFFSET_SIZE_CRC.pack(offset, _CRC.size + len(body), crc32(body)) + body
    except (StructError, ValueError) as error:
        raise WireError(f"a number does not fit a message: {error}") from error


def build_set(
    messages: Iterable[Message | tuple[int, int, Buffer | None, Buffer | None]],
    magic: int,
    *,
    codec: int = Codec.NONE,
    level: int | None = None,
    log_append_time: int | None = None,
) -> bytes:
    """Build a set of messages with absolute offsets: single ones, or one wrapper with a codec.

    Inner offsets of a wrapper of magic 1 are relative to the first message's. `log_append_time`
    (ms) sets bit 3 and every time in magic 1; magic 0 has neither. Raises WireError for a
    number out of its range, a codec that cannot be used, or zstd.
    """
    messages = list(messages)
    if codec >= Codec.ZSTD:
        raise WireError(f"there is no codec {codec} in messages of magic {magic}")
    attributes = LOG_APPEND_TIME if magic and log_append_time is not None else 0
    base = messages[0][0] if magic and codec and messages else 0
    text = b"".join(
        build_message(
            (offset - base, timestamp if log_append_time is None else log_append_time, key, value),
            magic,
            attributes,
        )
        for offset, timestamp, key, value in messages
    )
    if not codec or not messages:
        return text
    latest = max(NO_TIMESTAMP, *(message[1] for message in messages))
    packed: Buffer = compress(codec, text, level)
    if codec == Codec.LZ4 and not magic:
        packed = break_lz4_checksum(packed)
    time = latest if log_append_time is None else log_append_time
    return build_message((messages[-1][0], time, None, packed), magic, attributes | codec)
