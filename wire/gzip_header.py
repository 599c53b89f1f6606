"""The header of a gzip member.

    magic 1f 8b, method 8, flags, 6 bytes that say nothing of the text; then, by the flags: extra
    data led by its int16 size, a name and a comment that end with a zero, the low 16 bits of the
    CRC-32 of all of it. Integers are little-endian.

Source: RFC 1952. As Java, and so a Kafka broker, reads it: flags that mean nothing are passed over.
"""

from __future__ import annotations

from struct import Struct
from zlib import crc32

from .primitives import Buffer

_MAGIC = b"\x1f\x8b\x08"
_FIXED = Struct("<3sB6x")
_HAS_CHECKSUM, _HAS_EXTRA, _HAS_NAME, _HAS_COMMENT = 2, 4, 8, 16


def text_at(data: Buffer) -> int | None:
    """Where the text of a member begins; None if its header is not whole, or no header."""
    if len(data) < _FIXED.size:
        return None
    magic, flags = _FIXED.unpack_from(data)
    if magic != _MAGIC:
        return None
    pos = _FIXED.size
    if not flags:
        return pos
    data = bytes(data)
    if flags & _HAS_EXTRA:
        pos += 2 + int.from_bytes(data[pos : pos + 2], "little")
    for flag in (_HAS_NAME, _HAS_COMMENT):
        if flags & flag:
            pos = data.find(0, pos) + 1
            if not pos:
                return None
    if flags & _HAS_CHECKSUM:
        found = int.from_bytes(data[pos : pos + 2], "little")
        if found != crc32(data[:pos]) & 0xFFFF:
            return None
        pos += 2
    return pos if pos <= len(data) else None
