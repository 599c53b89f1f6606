"""The five codecs of a record batch, framed as Kafka's own clients frame them.

- gzip: one or more members, decompressed one after the other. A member after the first counts if it
  has more than 18 bytes and a valid header.
- snappy: xerial's framing, which Java writes and every client reads: 16 bytes (`82 SNAPPY 00`,
  int32 version 1, int32 compatible version 1), then blocks of an int32 length and raw snappy, each
  holding at most 32 KiB. Concatenated streams are read too, and a raw snappy block without any
  framing, which is what librdkafka writes.
- lz4: one standard frame, written as Java does (independent blocks of 64 KiB, no checksum and no
  size of the content: `04224d18 60 40 82`). Checksums and sizes are read, linked blocks are not:
  Kafka refuses them (though some clients' libraries write them for more than one block).
- zstd: any number of frames, with or without a content size, one after the other. The last of
  several may be cut off.

Rules. What Apache Kafka 4.3.1 decompresses is decompressed, what it refuses raises WireError:
incomplete data, a wrong checksum (but not that of an lz4 frame's whole content, which Kafka does
not read). As there, bytes are ignored that follow an lz4 frame, follow the last gzip member without
being one, or are too few for the length of another snappy block.
Unlike there, damage is found before any record is read, where Kafka may find first that there is
content after the last record.
Content of more than `limit` bytes raises WireError, since a few hundred kilobytes may decompress to
gigabytes; no more than that is ever allocated. Any bytes either decode or raise WireError.

The libraries are imported when a codec is first used.

Messages of magic 0 have lz4 frames with another header checksum (KAFKA-3160), which also covers the
frame's magic number. `break_lz4_checksum` and `mend_lz4_checksum` convert between the two.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Generator, Iterator
from enum import IntEnum
from importlib import import_module
from struct import Struct
from typing import Any

from .errors import WireError
from .gzip_header import text_at
from .primitives import Buffer, read_uvarint

LIMIT = 256 << 20
"""Bytes that a batch may decompress to unless the caller says otherwise: 256 MiB."""


class Codec(IntEnum):
    """How the records of a batch are compressed: bits 0-2 of its attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


def compress(codec: int, data: Buffer, level: int | None = None) -> bytes:
    """Compress with `codec`; `level` is on the scale of topic configs.

    None is the library's own default, for gzip -1 too; snappy has no levels.
    Raises WireError for a codec that does not exist, a level out of range, or a missing library.
    """
    if codec not in _COMPRESS:
        raise WireError(f"there is no compression codec {codec}")
    return _COMPRESS[codec](data, level)


def decompress(codec: int, data: Buffer, limit: int = LIMIT) -> Buffer:
    """Decompress `data`; for NONE, return `data` itself.

    Raises WireError if `data` is damaged or incomplete, decompresses to more than `limit` bytes, or
    the codec does not exist or its library is missing.
    """
    pieces = decompress_in_pieces(codec, data, limit)
    while True:
        try:
            next(pieces)
        except StopIteration as end:
            text: Buffer = end.value
            return text


def decompress_in_pieces(
    codec: int, data: Buffer, limit: int = LIMIT
) -> Generator[int, None, Buffer]:
    """The same as a generator, which yields the size of each piece it has made, in the time of a
    millisecond or two at most. Snappy without framing is one piece. Raises WireError."""
    if not codec:
        return data
    if codec not in _DECOMPRESS:
        raise WireError(f"there is no compression codec {codec}")
    text: bytes | bytearray = b""
    for piece in _DECOMPRESS[codec](data, limit):
        if not text:
            text = piece
        else:
            if isinstance(text, bytes):
                text = bytearray(text)
            text += piece  # not joined in the end: that would take the room twice
        yield len(piece)
    return text


def _library(name: str, package: str) -> Any:
    """Import a codec's module when it is needed; any further import is a dictionary look-up."""
    try:
        return import_module(name)
    except ImportError as error:
        raise WireError(
            f"this batch needs the Python package {package}, which cannot be imported: {error}"
        ) from error


def _too_large(limit: int) -> WireError:
    return WireError(f"compressed records hold more than {limit} bytes")


# None: as they are.


def _store(data: Buffer, level: int | None) -> bytes:
    return bytes(data)


# gzip.

_GZIP_TRAILER = Struct("<II")
_GZIP_EMPTY = 18
"""No member is smaller than one without any text."""
_GZIP_HEAD = bytes.fromhex("1f8b08000000000000ff")
"""As Java writes it: no time, no name, no hint about the level, unknown system."""


def _gzip(data: Buffer, level: int | None) -> bytes:
    try:
        compressor = zlib.compressobj(-1 if level is None else level, wbits=31)
    except (ValueError, OverflowError) as error:
        raise WireError(f"gzip has no level {level}") from error
    packed = compressor.compress(data) + compressor.flush()
    return _GZIP_HEAD + packed[len(_GZIP_HEAD) :]


_GZIP_PIECE = 1 << 18


def _gunzip(data: Buffer, limit: int) -> Iterator[bytes]:
    left = limit
    begin = text_at(data)
    if begin is None:
        raise WireError("no gzip")
    while begin is not None:
        member = zlib.decompressobj(wbits=-zlib.MAX_WBITS)
        checksum, before = 0, left
        rest: Buffer = data[begin:]
        while not member.eof:
            try:
                text = member.decompress(rest, min(_GZIP_PIECE, left + 1))
            except zlib.error as error:
                raise WireError(f"damaged gzip: {error}") from error
            left -= len(text)
            if left < 0:
                raise _too_large(limit)
            rest = member.unconsumed_tail
            if not text and not rest and not member.eof:
                raise WireError("gzip is cut short")
            checksum = zlib.crc32(text, checksum)
            yield text
        data = member.unused_data
        if len(data) < _GZIP_TRAILER.size:
            raise WireError("gzip is cut short")
        if _GZIP_TRAILER.unpack_from(data) != (checksum, (before - left) & 0xFFFFFFFF):
            raise WireError("damaged gzip: wrong checksum or size")
        data = data[_GZIP_TRAILER.size :]
        begin = text_at(data) if len(data) > _GZIP_EMPTY else None


# snappy, in xerial's framing.

_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_VERSION = 1
_XERIAL_HEAD = Struct(">8sii")
_XERIAL_LENGTH = Struct(">i")
_XERIAL_BLOCK = 32 << 10
_SNAPPY_RATIO = 22
"""No element of snappy decompresses three bytes to more than 64."""


def _snappy(data: Buffer, level: int | None) -> bytes:
    pack: Callable[[bytes], bytes] = _library("snappy", "python-snappy").compress
    out = [_XERIAL_HEAD.pack(_XERIAL_MAGIC, _XERIAL_VERSION, _XERIAL_VERSION)]
    for start in range(0, len(data), _XERIAL_BLOCK):
        block = pack(bytes(data[start : start + _XERIAL_BLOCK]))
        out += (_XERIAL_LENGTH.pack(len(block)), block)
    return b"".join(out)


def _unsnappy(data: Buffer, limit: int) -> Iterator[bytes]:
    library = _library("snappy", "python-snappy")
    data = bytes(data)
    if len(data) < _XERIAL_HEAD.size or not data.startswith(_XERIAL_MAGIC):
        yield _unsnappy_block(library, data, limit, limit)
        return
    left, pos = limit, 0
    while pos + _XERIAL_LENGTH.size <= len(data):
        # At the start, and at the start of each concatenated stream.
        if data.startswith(_XERIAL_MAGIC[: _XERIAL_LENGTH.size], pos):
            if len(data) - pos < _XERIAL_HEAD.size:
                raise WireError("snappy is cut short")
            magic, version, _ = _XERIAL_HEAD.unpack_from(data, pos)
            if pos and magic == _XERIAL_MAGIC and version < _XERIAL_VERSION:
                raise WireError(f"snappy of version {version}")
            pos += _XERIAL_HEAD.size
            continue
        (size,) = _XERIAL_LENGTH.unpack_from(data, pos)
        pos += _XERIAL_LENGTH.size
        if not 0 < size <= len(data) - pos:
            raise WireError(f"snappy block of {size} bytes where {len(data) - pos} are left")
        text = _unsnappy_block(library, data[pos : pos + size], left, limit)
        left -= len(text)
        yield text
        pos += size


def _unsnappy_block(library: Any, block: bytes, left: int, limit: int) -> bytes:
    # The block begins with its decompressed length, and a decoder allocates that much at once.
    length, _ = read_uvarint(block, 0)
    if length > left:
        raise _too_large(limit)
    if length > len(block) * _SNAPPY_RATIO:
        raise WireError(f"snappy block of {len(block)} bytes claims to hold {length}")
    try:
        text: bytes = library.uncompress(block)
    except library.UncompressError as error:
        raise WireError("damaged snappy") from error
    return text


# lz4, the standard frame.

_LZ4_LEVEL_MAX = 17  # Kafka's scale; the library treats everything above 12 as 12
_LZ4_DEFAULT = 9  # means the fast compressor, which is worse than any other level
_LZ4_FLAGS_AT = 4
_LZ4_INDEPENDENT = 0x20
_LZ4_HAS_CHECKSUM = 0x04
_LZ4_CHECKSUM_SIZE = 4
_LZ4_PIECE = 1 << 20
"""Bytes to decompress at a time: the library allocates them before it knows its need."""


def _lz4(data: Buffer, level: int | None) -> bytes:
    frame = _library("lz4.frame", "lz4")
    if level is not None and not 1 <= level <= _LZ4_LEVEL_MAX:
        raise WireError(f"lz4 has no level {level}")
    packed: bytes = frame.compress(
        data,
        compression_level=0 if level in (None, _LZ4_DEFAULT) else level,
        block_size=frame.BLOCKSIZE_MAX64KB,
        block_linked=False,
        store_size=False,
    )
    return packed


def _unlz4(data: Buffer, limit: int) -> Iterator[bytes]:
    frame = _library("lz4.frame", "lz4")
    context = frame.create_decompression_context()
    left, pos, ended = limit, 0, False
    flags = data[_LZ4_FLAGS_AT] if len(data) > _LZ4_FLAGS_AT else _LZ4_INDEPENDENT
    if not flags & _LZ4_INDEPENDENT:
        raise WireError("lz4 with linked blocks, which Kafka does not read")
    is_checked = bool(flags & _LZ4_HAS_CHECKSUM)
    if is_checked:
        data = _without_checksum(data)
    with memoryview(data) as view:
        while not ended:
            most = min(_LZ4_PIECE, left + 1)
            try:
                text, used, ended = frame.decompress_chunk(context, view[pos:], max_length=most)
            except (RuntimeError, ValueError) as error:
                raise WireError(f"damaged lz4: {error}") from error
            if not used and not text:
                raise WireError("lz4 is cut short")
            pos += used
            left -= len(text)
            if left < 0:
                raise _too_large(limit)
            yield text
        if is_checked and len(view) - pos < _LZ4_CHECKSUM_SIZE:
            raise WireError("lz4 is cut short")


def _without_checksum(frame: Buffer) -> bytearray:
    """The frame without the flag for a checksum of its content, which the library would verify."""
    if mend_lz4_checksum(frame) != frame:
        raise WireError("damaged lz4: wrong checksum of the header")
    changed = bytearray(frame)
    changed[_LZ4_FLAGS_AT] &= ~_LZ4_HAS_CHECKSUM
    return mend_lz4_checksum(changed)


# lz4 in messages of magic 0. A frame begins with its magic number, flags, block size, and a size of
# the content if the flags say so; then comes one byte of the xxHash-32 of all of them except the
# magic number.

_LZ4_RESERVED = 0x03  # one of these bits has a meaning by now; Kafka refuses both
_LZ4_HAS_SIZE = 0x08
_PRIMES = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1)  # xxHash's own


def break_lz4_checksum(frame: Buffer) -> bytearray:
    """Set the header checksum of magic 0 in an lz4 frame. Raises WireError if it is none."""
    broken = bytearray(frame)
    at = _lz4_checksum_at(broken)
    broken[at] = _xxhash32(broken[:at]) >> 8 & 0xFF
    return broken


def mend_lz4_checksum(frame: Buffer) -> bytearray:
    """Set the standard header checksum in an lz4 frame, whichever it has.

    Raises WireError if it is no frame, or one that Kafka does not know.
    """
    mended = bytearray(frame)
    at = _lz4_checksum_at(mended)
    mended[at] = _xxhash32(mended[_LZ4_FLAGS_AT:at]) >> 8 & 0xFF
    return mended


def _lz4_checksum_at(frame: bytearray) -> int:
    if len(frame) <= _LZ4_FLAGS_AT:
        raise WireError("lz4 is cut short")
    flags = frame[_LZ4_FLAGS_AT]
    if flags & _LZ4_RESERVED:
        raise WireError(f"lz4 with flags {flags:#04x}, which Kafka does not read")
    at = _LZ4_FLAGS_AT + (10 if flags & _LZ4_HAS_SIZE else 2)
    if len(frame) <= at:
        raise WireError("lz4 is cut short")
    return at


def _xxhash32(data: bytearray) -> int:
    """The xxHash-32 of fewer than 16 bytes, with seed 0; enough for a frame's header."""
    prime1, prime2, prime3, prime4, prime5 = _PRIMES
    words = len(data) & ~3
    h = prime5 + len(data)
    for pos in range(0, words, 4):
        h = h + int.from_bytes(data[pos : pos + 4], "little") * prime3 & 0xFFFFFFFF
        h = (h << 17 | h >> 15) * prime4 & 0xFFFFFFFF
    for byte in data[words:]:
        h = h + byte * prime5 & 0xFFFFFFFF
        h = (h << 11 | h >> 21) * prime1 & 0xFFFFFFFF
    h = (h ^ h >> 15) * prime2 & 0xFFFFFFFF
    h = (h ^ h >> 13) * prime3 & 0xFFFFFFFF
    return h ^ h >> 16


# zstd.

_ZSTD_LOOK = (1 << 17) + 3
"""How many bytes zstd's Java library reads at a time."""
_ZSTD_PIECES = (1 << 4, 1 << 8, 1 << 10)
"""How many bytes the decoder is given at a time, at least, at first and at most: each four can be
128 KiB, and it makes all of them before we can check."""
_ZSTD_MANY, _ZSTD_FEW = 1 << 19, 1 << 16
"""From how many bytes made of a piece on the next one is smaller, and below how many larger."""


def _zstd(data: Buffer, level: int | None) -> bytes:
    library = _library("zstandard", "zstandard")
    try:
        compressor = library.ZstdCompressor(level=3 if level is None else level)
    except (ValueError, OverflowError) as error:
        raise WireError(f"zstd has no level {level}") from error
    # As a stream that is flushed and closed, like Kafka's: the frame does not tell its
    # size beforehand, and its last block is an empty one.
    stream = compressor.compressobj()
    packed: bytes = stream.compress(data) + stream.flush(library.COMPRESSOBJ_FLUSH_BLOCK)
    return packed + bytes(stream.flush())


def _unzstd(data: Buffer, limit: int) -> Iterator[bytes]:
    library = _library("zstandard", "zstandard")
    left = limit
    least, given, most = _ZSTD_PIECES
    with memoryview(data) as view:
        pos = ended = 0
        frame = _zstd_frame(library)
        while pos < len(view):
            if frame.eof:
                frame = _zstd_frame(library)
            piece = view[pos : pos + given]
            try:
                text: bytes = frame.decompress(piece)
            except library.ZstdError as error:
                raise WireError(f"damaged zstd: {error}") from error
            pos += len(piece) - len(frame.unused_data)
            ended = pos if frame.eof else ended
            left -= len(text)
            if left < 0:
                raise _too_large(limit)
            if len(text) >= _ZSTD_MANY:
                given = max(least, given // 4)
            elif len(text) < _ZSTD_FEW:
                given = min(most, given * 2)
            yield text
        # Of a frame that is cut Java's reader says nothing if its last look for bytes was before.
        is_cut = pos > ended and (not ended or (ended - 1) // _ZSTD_LOOK != (pos - 1) // _ZSTD_LOOK)
        if is_cut:
            raise WireError("zstd is cut short")


def _zstd_frame(library: Any) -> Any:
    # Explicit, because the library's default is going to change.
    return library.ZstdDecompressor().decompressobj(read_across_frames=False)


_COMPRESS: dict[int, Callable[[Buffer, int | None], bytes]] = {
    Codec.NONE: _store,
    Codec.GZIP: _gzip,
    Codec.SNAPPY: _snappy,
    Codec.LZ4: _lz4,
    Codec.ZSTD: _zstd,
}

_DECOMPRESS: dict[int, Callable[[Buffer, int], Iterator[bytes]]] = {
    Codec.GZIP: _gunzip,
    Codec.SNAPPY: _unsnappy,
    Codec.LZ4: _unlz4,
    Codec.ZSTD: _unzstd,
}
