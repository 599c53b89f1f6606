"""Record batches, magic 2: the 61 bytes before the records, and what a broker writes into them.

    baseOffset int64, batchLength int32 (of what follows it), partitionLeaderEpoch int32,
    magic int8 = 2, crc uint32, attributes int16, lastOffsetDelta int32, baseTimestamp int64,
    maxTimestamp int64, producerId int64, producerEpoch int16, baseSequence int32, count int32,
    and `count` records (records.py), compressed as one text when attributes name a codec.

Attributes: bits 0-2 codec, 3 log append time (then maxTimestamp is the time of every record),
4 transactional, 5 control, 6 delete horizon (then baseTimestamp is also the time at which
tombstones may be removed). The CRC-32C covers attributes and everything after them, so a broker
sets offset and leader epoch without changing it. Times are milliseconds since 1970, -1 is no time.

A header is read as it is, in one step; its users check it.
Source: the protocol guide, "Record Batch"; KIP-98, KIP-534 (delete horizon).
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from struct import error as StructError
from typing import NamedTuple

from .checksum import crc32c
from .compression import Codec
from .errors import WireError
from .primitives import Buffer

HEADER = Struct(">qiibIhiqqqhii")
_SIZE_AND_MAGIC = Struct(">8xi4xb")
_OFFSET = Struct(">q")
_PLACE = Struct(">qii")
_EPOCH = Struct(">i")
_CRC = Struct(">I")
_ATTRIBUTES = Struct(">h")
_TIMESTAMP = Struct(">q")

OVERHEAD = 12
"""Bytes of a batch that its batchLength does not count: base offset and the length itself."""
HEADER_SIZE = HEADER.size
LAST_OFFSET_END = 27
"""Where the last offset delta ends, which brokers read before they look for the whole header."""
MAGIC = 2
_CODECS = tuple(Codec)
_EPOCH_AT = 12
_CRC_AT = 17
_ATTRIBUTES_AT = 21
_MAX_TIMESTAMP_AT = 35

CODEC_MASK = 0x07
LOG_APPEND_TIME = 0x08
KNOWN = 0x7F
"""The bits of a batch's attributes that mean something: a broker that changes one clears the
others."""
TRANSACTIONAL = 0x10
CONTROL = 0x20
DELETE_HORIZON = 0x40

NO_TIMESTAMP = -1
NO_SEQUENCE = -1


class BatchHeader(NamedTuple):
    """The 61 bytes before a batch's records, in their order."""

    base_offset: int
    batch_length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    count: int  # type: ignore[assignment]  # hides tuple.count, which is not used

    @property
    def size(self) -> int:
        """Bytes of the whole batch, from its base offset on."""
        return self.batch_length + OVERHEAD

    @property
    def last_offset(self) -> int:
        """The last offset of this batch, even if compaction has removed its record."""
        return self.base_offset + self.last_offset_delta

    @property
    def codec(self) -> Codec:
        """Raises WireError for the codecs 5-7, which do not exist."""
        try:
            return _CODECS[self.attributes & CODEC_MASK]
        except IndexError:
            codec = self.attributes & CODEC_MASK
            raise WireError(f"there is no compression codec {codec}") from None

    @property
    def is_log_append_time(self) -> bool:
        """True when max_timestamp, set by the broker, is the time of every record."""
        return self.attributes & LOG_APPEND_TIME != 0

    @property
    def is_transactional(self) -> bool:
        """True for records and markers of a transaction."""
        return self.attributes & TRANSACTIONAL != 0

    @property
    def is_control(self) -> bool:
        """True for markers, which brokers write and consumers skip."""
        return self.attributes & CONTROL != 0

    @property
    def has_delete_horizon(self) -> bool:
        """True when base_timestamp is the time at which the batch's tombstones may be removed."""
        return self.attributes & DELETE_HORIZON != 0

    @property
    def last_sequence(self) -> int:
        """The sequence number of the last record; 0 follows 2147483647. -1 without any."""
        if self.base_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        last = self.base_sequence + self.last_offset_delta
        return last - (1 << 31) if last >= 1 << 31 else last


def read_header(buf: Buffer, pos: int = 0) -> BatchHeader:
    """Read the header at `pos`. Nothing in it is checked.

    Raises WireError if fewer than 61 bytes are left.
    """
    try:
        # tuple.__new__ because BatchHeader(*fields) would take three times as long.
        return tuple.__new__(BatchHeader, HEADER.unpack_from(buf, pos))
    except StructError:
        raise WireError(f"no whole batch header at byte {pos}") from None


def batches(buf: Buffer, pos: int = 0, end: int | None = None) -> Iterator[tuple[int, BatchHeader]]:
    """Yield position and header of each complete batch in buf[pos:end], up to an incomplete one.

    Raises WireError on a size that cannot hold a header, and on a magic other than 2. Fewer than
    17 bytes are an incomplete batch, whatever they are.
    """
    end = len(buf) if end is None else end
    while end - pos >= _SIZE_AND_MAGIC.size:
        length, magic = _SIZE_AND_MAGIC.unpack_from(buf, pos)
        if length < HEADER_SIZE - OVERHEAD:
            raise WireError(f"batch at byte {pos} says it has {length} bytes after its length")
        if magic != MAGIC:
            raise WireError(f"batch at byte {pos} has magic {magic}")
        size = length + OVERHEAD
        if end - pos < size:
            return
        yield pos, read_header(buf, pos)
        pos += size


def checksum(buf: Buffer, pos: int, size: int) -> int:
    """The right CRC-32C of the batch of `size` bytes at `pos`."""
    return crc32c(memoryview(buf)[pos + _ATTRIBUTES_AT : pos + size])


def assign(buf: bytearray | memoryview, pos: int, base_offset: int, leader_epoch: int) -> None:
    """Set base offset and leader epoch of the batch at `pos`, in place; the CRC stays right."""
    _OFFSET.pack_into(buf, pos, base_offset)
    _EPOCH.pack_into(buf, pos + _EPOCH_AT, leader_epoch)


def place(
    buf: bytearray | memoryview, header: BatchHeader, base_offset: int, leader_epoch: int
) -> BatchHeader:
    """The same for a batch whose header is known; returns the header that it has then."""
    _PLACE.pack_into(buf, 0, base_offset, header[1], leader_epoch)
    return tuple.__new__(BatchHeader, (base_offset, header[1], leader_epoch, *header[3:]))


def restamp(
    buf: bytearray | memoryview, pos: int, max_timestamp: int, log_append_time: bool
) -> None:
    """Set maxTimestamp and the log append time bit of the batch at `pos` in place, and its CRC."""
    length, _ = _SIZE_AND_MAGIC.unpack_from(buf, pos)
    (attributes,) = _ATTRIBUTES.unpack_from(buf, pos + _ATTRIBUTES_AT)
    attributes = attributes & KNOWN & ~LOG_APPEND_TIME
    attributes |= LOG_APPEND_TIME if log_append_time else 0
    _ATTRIBUTES.pack_into(buf, pos + _ATTRIBUTES_AT, attributes)
    _TIMESTAMP.pack_into(buf, pos + _MAX_TIMESTAMP_AT, max_timestamp)
    seal(buf, pos, length + OVERHEAD)


def seal(buf: bytearray | memoryview, pos: int, size: int) -> None:
    """Set the CRC of the batch of `size` bytes at `pos` in place."""
    _CRC.pack_into(buf, pos + _CRC_AT, checksum(buf, pos, size))
