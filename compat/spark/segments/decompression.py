"""Decompressing a batch's records section, all at once.

wire/compression.py does this in small steps, because a broker has others waiting; that takes up to
three times as long. Here one step is tried first where it cannot take more memory than is allowed:
one frame of zstd, whose blocks say how large its content may be, and lz4 in the framing that
Kafka's clients write. Of anything else, damage included, the other decides what it is. What comes
out is the same.
"""

from __future__ import annotations

import lz4.frame
import zstandard

from ....wire.compression import Codec, decompress
from ....wire.primitives import Buffer

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
    """What `data` decompresses to. Raises WireError as wire.compression.decompress does."""
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
