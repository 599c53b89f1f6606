"""Messages of magic 0 and 1 as logs hold them, seen as record batches of magic 2.

Brokers before 0.11 wrote message sets (message_sets.py) into the same files, and every broker since
reads them. Offset, size and magic are at the same positions in all three formats, so a reader of a
log tells them apart by the magic. Each entry of a set counts as a batch: a single message as a
batch of one record, a wrapper as one of all messages in it.

    of the batch      single message         wrapper
    base offset       its offset             the first inner message's
    last offset       its offset             its own
    max timestamp     its time               its own time: -1 in magic 0
    count             1                      inner messages
    attributes        codec and log append time; the bits of newer formats mean nothing here
    crc               CRC-32, not CRC-32C: checked by `is_intact`
    all else          -1: leader epoch, producer, sequence

A wrapper whose inner messages cannot be read counts as one message: its own checksum says whether
it is damaged, and a broker sends it to clients as it is. Offsets are not under a checksum, but in
magic 0 the wrapper's is that of its last message. If it is not, the base offset is above the last
offset, which is invalid in a log.

Rules: a header needs the whole entry, since a wrapper is decompressed to find its base offset. Any
bytes either decode or raise WireError. Readers of large logs look for a batch of magic 2 first, and
use this module only where there is none.

Source: KIP-31, KIP-32, KIP-98; segments of old formats given to Kafka 3.9.2 and 4.3.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from zlib import crc32

from ..batch import (
    CODEC_MASK,
    HEADER_SIZE,
    LOG_APPEND_TIME,
    MAGIC,
    NO_SEQUENCE,
    OVERHEAD,
    BatchHeader,
    checksum,
    read_header,
)
from ..compression import LIMIT
from ..errors import WireError
from ..primitives import Buffer
from ..records import Record, read_records
from .message_sets import Entry, Head, read_entry, read_head, unwrap

_SIZE_AND_MAGIC = Struct(">8xi4xb")
MAGIC_END = _SIZE_AND_MAGIC.size
"""How many bytes of a batch or message tell its magic."""
_CRC_COVERS = 16
_SMALLEST = {0: 26, 1: 34}
"""Bytes of a message with neither key nor value, by magic."""


def entry_size(buf: Buffer, pos: int = 0) -> int:
    """Bytes of the message of magic 0 or 1 that begins at `pos`, from its offset on.

    Raises WireError if there is none, or if fewer than 17 bytes are left.
    """
    if len(buf) - pos < MAGIC_END:
        raise WireError(f"the batch at byte {pos} is cut short")
    length, magic = _SIZE_AND_MAGIC.unpack_from(buf, pos)
    size: int = length + OVERHEAD
    if size < _SMALLEST.get(magic, size + 1):
        raise WireError(f"no batch at byte {pos}")
    return size


def old_header(buf: Buffer, pos: int = 0, limit: int = LIMIT) -> BatchHeader:
    """The header that the message of magic 0 or 1 at `pos` would have as a batch.

    A wrapper may decompress to `limit` bytes. Raises WireError if no such message begins there, or
    if it is incomplete.
    """
    size = entry_size(buf, pos)
    if size > len(buf) - pos:
        raise WireError(f"the batch at byte {pos} is cut short")
    entry = Entry(pos, size, buf[pos + MAGIC_END - 1])
    head = read_head(buf, entry)
    first, count = head.offset, 1
    if head.codec:
        first, count = _wrapped(buf, entry, head, limit)
    known = CODEC_MASK | LOG_APPEND_TIME if entry.magic else CODEC_MASK
    times = head.timestamp, head.timestamp
    place = first, size - OVERHEAD, -1, entry.magic, head.crc, head.attributes & known
    return BatchHeader(*place, head.offset - first, *times, -1, -1, NO_SEQUENCE, count)


def _wrapped(buf: Buffer, entry: Entry, head: Head, limit: int) -> tuple[int, int]:
    """Offset of the first message in a wrapper, and their number."""
    try:
        text, inner = unwrap(buf, entry, limit)
    except WireError:
        return head.offset, 1
    first, last = read_head(text, inner[0]).offset, read_head(text, inner[-1]).offset
    if not entry.magic and last != head.offset:
        return head.offset + 1, len(inner)
    if entry.magic and head.offset:
        first += head.offset - last
    return first if 0 <= first <= head.offset else head.offset, len(inner)


def header_of(buf: Buffer, pos: int = 0) -> BatchHeader:
    """The header of the batch, or of the message of magic 0 or 1, at `pos`.

    A batch may end after its header. Raises WireError if there is neither.
    """
    if len(buf) - pos >= HEADER_SIZE:
        header = read_header(buf, pos)
        if header.magic == MAGIC and header.size >= HEADER_SIZE:
            return header
    return old_header(buf, pos)


def logged_batches(
    buf: Buffer, pos: int = 0, end: int | None = None
) -> Iterator[tuple[int, BatchHeader]]:
    """Yield position and header of each complete batch or message in buf[pos:end].

    Raises WireError for anything else, but an incomplete one just ends it; fewer than 17 bytes are
    incomplete, whatever they are.
    """
    end = len(buf) if end is None else end
    while end - pos >= MAGIC_END:
        length, magic = _SIZE_AND_MAGIC.unpack_from(buf, pos)
        if magic == MAGIC and length >= HEADER_SIZE - OVERHEAD:
            if end - pos < length + OVERHEAD:
                return
            header = read_header(buf, pos)
        else:
            if entry_size(buf, pos) > end - pos:
                return
            header = old_header(buf, pos)
        yield pos, header
        pos += header.batch_length + OVERHEAD


def is_intact(buf: Buffer, pos: int, header: BatchHeader) -> bool:
    """Whether the checksum of the complete batch or message at `pos` is right."""
    if header.magic == MAGIC:
        return checksum(buf, pos, header.size) == header.crc
    with memoryview(buf) as view, view[pos + _CRC_COVERS : pos + header.size] as covered:
        return bool(crc32(covered) == header.crc)


def read_logged(
    buf: Buffer, pos: int = 0, limit: int = LIMIT, since: int | None = None
) -> list[Record]:
    """Read the records of the batch, or the messages of the entry of magic 0 or 1, at `pos`; only
    those from the offset `since` on, if that is given.

    Raises WireError as `read_records` and `message_sets.read_entry` do. No CRC is checked.
    """
    if len(buf) - pos >= MAGIC_END:
        _, magic = _SIZE_AND_MAGIC.unpack_from(buf, pos)
        if 0 <= magic < MAGIC:
            size = entry_size(buf, pos)
            if size > len(buf) - pos:
                raise WireError(f"the batch at byte {pos} is cut short")
            found = read_entry(buf, Entry(pos, size, magic), limit)
            records = [Record(*message, ()) for message in found]
            return [each for each in records if since is None or each.offset >= since]
    return read_records(buf, pos, limit, since)
