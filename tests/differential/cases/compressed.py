"""Sections B7, B11: compressed records that are not framed as clients do it, or are damaged."""

from __future__ import annotations

import gzip
import random
import zlib

import lz4.frame
import snappy
import zstandard
from odradek.wire.compression import Codec, compress
from odradek.wire.primitives import write_varint

from ..ask.batches import batch, record_bytes
from ..ask.records import fetch, produce
from ..ask.topics import create
from ..engine.steps import Ask, Steps
from . import case

ONE = record_bytes(value=b"v" * 50)
LARGE = record_bytes(value=bytes(range(256)) * 1000)
NOISES = [
    record_bytes(value=random.Random(7).randbytes(size))
    for size in (131_030, 131_040, 131_046, 131_047, 131_048, 131_049, 131_050, 131_060, 262_097)
]
"""What does not become smaller: near the size of what a broker's library reads at a time."""
GARBAGE = (b"\0", b"x", bytes(3), b"more", bytes(4), b"a little more", bytes(20))
SKIPPABLE = bytes.fromhex("502a4d1804000000") + b"skip"


def lz4_frame(text: bytes = ONE, **options: object) -> bytes:
    return bytes(
        lz4.frame.compress(text, **{"block_linked": False, "store_size": False, **options})
    )


def zstd_frame(text: bytes = ONE, **options: object) -> bytes:
    return zstandard.ZstdCompressor(**options).compress(text)  # type: ignore[arg-type]


def gzipped(text: bytes) -> bytes:
    """A member that says no time: the same in every run."""
    return gzip.compress(text, mtime=0)


def flipped(data: bytes, at: int, mask: int = 0xFF) -> bytes:
    """The data with one byte changed."""
    changed = bytearray(data)
    changed[at] ^= mask
    return bytes(changed)


def given(codec: Codec, *payloads: bytes) -> Steps:
    """Produce each of these as the compressed records of a batch of one."""
    edits = {"attributes": codec, "max_timestamp": 1_600_000_000_000}
    return [
        create(),
        *(Ask(produce(batch(b"v", payload=payload, edits=edits))) for payload in payloads),
        Ask(fetch(), 12),
    ]


@case("B11")
def lz4_frames() -> Steps:
    checked = lz4_frame(content_checksum=True)
    blocks = lz4_frame(block_checksum=True)
    sized = lz4_frame(store_size=True)
    plain = lz4_frame()
    large = lz4_frame(LARGE, block_size=lz4.frame.BLOCKSIZE_MAX64KB)
    return given(
        Codec.LZ4,
        plain,
        checked,
        flipped(checked, -1),
        checked[:-1],
        checked[:-4],
        lz4_frame(content_checksum=True)[:-8],
        blocks,
        flipped(blocks, -5),
        sized,
        flipped(sized, 6, 0x01),
        large,
        flipped(lz4_frame(LARGE, content_checksum=True), -1),
        lz4_frame(LARGE, block_linked=True),
        lz4_frame(block_linked=True),
        *(plain + garbage for garbage in GARBAGE),
        plain + plain,
        SKIPPABLE + plain,
        plain[:-1],
        plain[:-4],
        plain[:-5],
        plain[:7],
        plain[:6],
        plain[:3],
        b"",
        flipped(plain, 0),
        flipped(plain, 6),
        *(flipped(plain, 4, mask) for mask in (0x01, 0x02, 0x40, 0x80)),
        *(flipped(plain, 5, mask) for mask in (0x10, 0x40, 0x80, 0x01)),
        flipped(plain, 10, 0x80),
        plain[:7] + bytes(4),
        lz4_frame(b""),
    )


@case("B11")
def zstd_frames() -> Steps:
    plain = zstd_frame()
    checked = zstd_frame(write_checksum=True)
    unsized = zstd_frame(write_content_size=False)
    return given(
        Codec.ZSTD,
        plain,
        checked,
        flipped(checked, -1),
        checked[:-1],
        checked[:-4],
        unsized,
        compress(Codec.ZSTD, ONE),
        *(plain + garbage for garbage in GARBAGE),
        *(compress(Codec.ZSTD, ONE) + garbage for garbage in GARBAGE),
        plain + plain,
        plain + zstd_frame(b""),
        plain + SKIPPABLE,
        plain + SKIPPABLE[:5],
        plain + plain[:6],
        plain + plain[:-1],
        plain + flipped(checked, -1),
        SKIPPABLE + plain,
        zstd_frame(ONE[:20]) + zstd_frame(ONE[20:]),
        plain[:-1],
        plain[:5],
        plain[:3],
        b"",
        flipped(plain, 0),
        flipped(plain, 4),
        flipped(plain, 5, 0x01),
        zstd_frame(b""),
        zstd_frame(LARGE),
        zstd_frame(LARGE) + b"x",
        zstd_frame(LARGE) + plain[:3],
        *(zstd_frame(noise) + plain[:size] for noise in NOISES for size in (0, 3, 100)),
    )


@case("B11")
def gzip_members() -> Steps:
    plain = gzipped(ONE)
    return given(
        Codec.GZIP,
        plain,
        *(plain + garbage for garbage in GARBAGE),
        *(plain + plain[:size] for size in (1, 2, 3, 9, 10, 12)),
        plain + plain,
        plain + gzipped(b""),
        gzipped(ONE[:20]) + gzipped(ONE[20:]),
        flipped(plain, -8),
        flipped(plain, -1),
        plain[:-1],
        plain[:-8],
        plain[:-9],
        plain[:12],
        plain[:10],
        plain[:3],
        b"",
        flipped(plain, 0),
        flipped(plain, 2),
        *(flipped(plain, 3, mask) for mask in (0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x80)),
        flipped(plain, 4),
        flipped(plain, 9),
        gzipped(b""),
        zlib.compress(ONE),
    )


@case("B11")
def snappy_blocks() -> Steps:
    framed = compress(Codec.SNAPPY, ONE)
    raw = bytes(snappy.compress(ONE))
    head, block = framed[:16], framed[16:]
    return given(
        Codec.SNAPPY,
        framed,
        raw,
        *(framed + garbage for garbage in GARBAGE),
        *(raw + garbage for garbage in GARBAGE),
        framed + framed,
        framed + block,
        framed + head,
        framed + head[:10],
        framed[:-1],
        raw[:-1],
        head,
        head + bytes(4),
        head[:10],
        head[:8],
        flipped(framed, 0),
        flipped(framed, 11),
        flipped(framed, 15),
        flipped(framed, 11, 0x01),
        flipped(framed, 8, 0x80),
        flipped(framed, 15, 0x01),
        framed + flipped(framed, 11, 0x01),
        framed + flipped(framed, 2),
        framed + flipped(framed, 5),
        framed + flipped(framed, 5)[:10],
        b"",
        write_varint(0),
        head + block[:4],
        flipped(framed, 19),
        flipped(framed, 20),
    )
