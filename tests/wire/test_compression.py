"""The codecs: against the libraries' other ways of writing, against damage, and against bombs.

What is accepted and what is not was asked of Apache Kafka 4.3.1's own decompression.
"""

from __future__ import annotations

import gzip
import random
import subprocess
import sys
import zlib
from collections.abc import Callable
from typing import Any

import lz4.frame
import pytest
import snappy
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from odradek.wire import WireError
from odradek.wire.compression import Codec, compress, decompress, decompress_in_pieces

from tests.support.drawn import examples

TEXT = b"".join(b"line %d of a text that wants to be packed\n" % n for n in range(5000))
PACKERS = [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD]

HEADS = {
    Codec.GZIP: "1f8b08000000000000ff",
    Codec.SNAPPY: "82534e41505059000000000100000001",
    Codec.LZ4: "04224d18604082",
    Codec.ZSTD: "28b52ffd",
}


def lz4_frame(text: bytes, **options: Any) -> bytes:
    return lz4.frame.compress(text, **{"block_linked": False, "store_size": False, **options})


def zstd_stream(text: bytes) -> bytes:
    """A frame that does not know its size when it begins, as streaming writers make it."""
    compressor = zstandard.ZstdCompressor().compressobj()
    return compressor.compress(text) + compressor.flush()


def zstd_frame(text: bytes, **options: Any) -> bytes:
    return zstandard.ZstdCompressor(**options).compress(text)


def flipped(data: bytes, at: int, mask: int = 0xFF) -> bytes:
    changed = bytearray(data)
    changed[at] ^= mask
    return bytes(changed)


def xerial(*blocks: bytes) -> bytes:
    out = bytes.fromhex(HEADS[Codec.SNAPPY])
    for block in map(snappy.compress, blocks):
        out += len(block).to_bytes(4, "big") + block
    return out


@pytest.mark.parametrize("codec", Codec)
@pytest.mark.parametrize("text", [b"", b"x", TEXT], ids=["nothing", "a byte", "many blocks"])
@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_what_is_packed_is_unpacked(
    codec: Codec, text: bytes, kind: Callable[[bytes], bytes]
) -> None:
    assert decompress(codec, kind(compress(codec, kind(text)))) == text


@pytest.mark.parametrize("codec", PACKERS)
def test_packed_bytes_begin_as_kafkas_own_clients_begin_them(codec: Codec) -> None:
    assert compress(codec, TEXT).hex().startswith(HEADS[codec])


def test_snappy_blocks_hold_32_kib() -> None:
    packed = compress(Codec.SNAPPY, bytes(100_000))
    sizes, pos = [], 16
    while pos < len(packed):
        size = int.from_bytes(packed[pos : pos + 4], "big")
        sizes.append(len(snappy.uncompress(packed[pos + 4 : pos + 4 + size])))
        pos += 4 + size
    assert sizes == [32768, 32768, 32768, 1696]


def with_checksum(head: bytes) -> bytes:
    """The header of a gzip member, and the checksum that it may end with."""
    return head + (zlib.crc32(head) & 0xFFFF).to_bytes(2, "little")


HALF = len(TEXT) // 2
AS_OTHERS_WRITE_IT = {
    "gzip with a name and a time": (Codec.GZIP, gzip.compress(TEXT, mtime=1)),
    "gzip of two members": (Codec.GZIP, gzip.compress(TEXT[:HALF]) + gzip.compress(TEXT[HALF:])),
    "gzip and what is none": (Codec.GZIP, gzip.compress(TEXT) + bytes(20)),
    "gzip and too little for a member": (Codec.GZIP, gzip.compress(TEXT) + gzip.compress(b"")[:18]),
    "gzip and a header that is none": (
        Codec.GZIP,
        gzip.compress(TEXT) + flipped(gzip.compress(TEXT), 2),
    ),
    "gzip with flags that mean nothing": (Codec.GZIP, flipped(gzip.compress(TEXT), 3, 0xE0)),
    "gzip with all there is in its header": (
        Codec.GZIP,
        with_checksum(b"\x1f\x8b\x08\x1e" + bytes(6) + b"\2\0xxname\0comment\0")
        + gzip.compress(TEXT)[10:],
    ),
    "snappy without framing": (Codec.SNAPPY, snappy.compress(TEXT)),
    "snappy in large blocks": (Codec.SNAPPY, xerial(TEXT[:HALF], b"", TEXT[HALF:])),
    "snappy of two streams": (Codec.SNAPPY, xerial(TEXT[:HALF]) + xerial(TEXT[HALF:])),
    "snappy of no version": (Codec.SNAPPY, flipped(xerial(TEXT), 11, 0x01)),
    "snappy and half a length": (Codec.SNAPPY, xerial(TEXT) + bytes(3)),
    "lz4 with its size": (Codec.LZ4, lz4_frame(TEXT, store_size=True)),
    "lz4 with checksums": (Codec.LZ4, lz4_frame(TEXT, content_checksum=1, block_checksum=1)),
    "lz4 with a wrong checksum": (Codec.LZ4, lz4_frame(TEXT, content_checksum=True)[:-1] + b"?"),
    "lz4 with its size and a wrong checksum": (
        Codec.LZ4,
        lz4_frame(TEXT, content_checksum=True, store_size=True)[:-1] + b"?",
    ),
    "lz4 in large blocks": (Codec.LZ4, lz4_frame(TEXT, block_size=lz4.frame.BLOCKSIZE_MAX4MB)),
    "lz4 and what follows": (Codec.LZ4, lz4_frame(TEXT) + lz4_frame(b"is not read")),
    "zstd without its size": (Codec.ZSTD, zstd_stream(TEXT)),
    "zstd with a checksum": (Codec.ZSTD, zstd_frame(TEXT, write_checksum=True)),
    "zstd of two frames": (Codec.ZSTD, zstd_frame(TEXT[:HALF]) + zstd_stream(TEXT[HALF:])),
    "zstd after a skippable frame": (
        Codec.ZSTD,
        bytes.fromhex("502a4d1804000000") + b"skip" + zstd_frame(TEXT),
    ),
    "zstd and a frame that is cut": (Codec.ZSTD, zstd_frame(TEXT) + zstd_frame(TEXT)[:5]),
    "zstd of no frame at all": (Codec.ZSTD, b""),
}


@pytest.mark.parametrize("name", AS_OTHERS_WRITE_IT)
def test_text_is_read_as_other_writers_pack_it(name: str) -> None:
    codec, packed = AS_OTHERS_WRITE_IT[name]
    assert decompress(codec, packed) == (TEXT if packed else b"")


DAMAGED = {
    "gzip of nothing": (Codec.GZIP, b""),
    "gzip cut in its trailer": (Codec.GZIP, gzip.compress(TEXT)[:-1]),
    "gzip cut in its text": (Codec.GZIP, gzip.compress(TEXT)[:-100]),
    "gzip cut in its header": (Codec.GZIP, gzip.compress(TEXT)[:9]),
    "gzip with a wrong checksum of its header": (
        Codec.GZIP,
        b"\x1f\x8b\x08\x02" + bytes(8) + gzip.compress(TEXT)[10:],
    ),
    "gzip with a name without end": (Codec.GZIP, b"\x1f\x8b\x08\x08" + bytes(6) + b"name"),
    "gzip with a wrong size": (Codec.GZIP, flipped(gzip.compress(TEXT), -1)),
    "gzip with a damaged second member": (
        Codec.GZIP,
        gzip.compress(TEXT) + flipped(gzip.compress(TEXT), -1),
    ),
    "gzip with a wrong checksum": (Codec.GZIP, gzip.compress(TEXT)[:-5] + b"?" + bytes(4)),
    "snappy of nothing": (Codec.SNAPPY, b""),
    "snappy cut in a block": (Codec.SNAPPY, xerial(TEXT)[:-1]),
    "snappy cut in a later header": (Codec.SNAPPY, xerial(TEXT) + xerial()[:15]),
    "snappy of two streams, the second of no version": (
        Codec.SNAPPY,
        xerial(TEXT) + flipped(xerial(TEXT), 11, 0x01),
    ),
    "snappy with an empty block": (Codec.SNAPPY, xerial(TEXT) + bytes(4)),
    "snappy with a negative block": (Codec.SNAPPY, xerial(TEXT) + b"\xff" * 4),
    "snappy without framing, and more": (Codec.SNAPPY, snappy.compress(TEXT) + b"more"),
    "snappy that claims a gigabyte": (Codec.SNAPPY, b"\x80\x80\x80\x80\x04" + bytes(100)),
    "lz4 of nothing": (Codec.LZ4, b""),
    "lz4 without its end": (Codec.LZ4, lz4_frame(TEXT)[:-4]),
    "lz4 cut in a block": (Codec.LZ4, lz4_frame(TEXT)[:-5]),
    "lz4 with linked blocks": (Codec.LZ4, lz4_frame(TEXT, block_linked=True)),
    "lz4 with half a checksum": (Codec.LZ4, lz4_frame(TEXT, content_checksum=True)[:-1]),
    "lz4 with a wrong checksum of a block": (
        Codec.LZ4,
        lz4_frame(TEXT, block_checksum=True)[:-5] + b"?" + bytes(4),
    ),
    "lz4 with a checksum and a wrong one of its header": (
        Codec.LZ4,
        flipped(lz4_frame(TEXT, content_checksum=True), 6),
    ),
    "zstd cut by a byte": (Codec.ZSTD, zstd_frame(TEXT)[:-1]),
    "zstd and what is none": (Codec.ZSTD, zstd_frame(TEXT) + b"more"),
    "zstd and a stray byte": (Codec.ZSTD, zstd_frame(TEXT) + b"\0"),
    "zstd with a wrong checksum": (Codec.ZSTD, zstd_frame(TEXT, write_checksum=True)[:-1] + b"?"),
    "a codec of the future": (7, TEXT),
}


@pytest.mark.parametrize(("size", "is_read"), [(131_074, True), (131_075, False)])
def test_a_cut_zstd_frame_goes_unnoticed_where_javas_reader_has_looked_before(
    size: int, is_read: bool
) -> None:
    text = random.Random(1).randbytes(size - 12)  # nothing that zstd could make smaller
    packed = zstd_frame(text)
    assert len(packed) == size
    if is_read:
        assert decompress(Codec.ZSTD, packed + zstd_frame(TEXT)[:1]) == text
    else:
        with pytest.raises(WireError, match="cut short"):
            decompress(Codec.ZSTD, packed + zstd_frame(TEXT)[:1])
    with pytest.raises(WireError, match="cut short"):
        decompress(Codec.ZSTD, packed + zstd_frame(TEXT)[:2])


@pytest.mark.parametrize("name", DAMAGED)
def test_damage_is_a_wire_error(name: str) -> None:
    codec, packed = DAMAGED[name]
    with pytest.raises(WireError):
        decompress(codec, packed)


@given(
    codec=st.sampled_from(PACKERS),
    text=st.binary(max_size=200),
    cut=st.integers(0, 60),
    put=st.binary(max_size=12),
)
@examples(500)
def test_any_bytes_decode_or_raise_wire_error(
    codec: Codec, text: bytes, cut: int, put: bytes
) -> None:
    packed = compress(codec, text)
    for damaged in (put, packed[:cut] + put, packed[:cut] + put + packed[cut + len(put) :]):
        try:
            assert len(decompress(codec, damaged, limit=10_000)) <= 10_000
        except WireError:
            continue


@pytest.mark.parametrize("codec", PACKERS)
def test_text_may_be_as_long_as_the_limit_and_no_longer(codec: Codec) -> None:
    packed = compress(codec, TEXT)
    assert decompress(codec, packed, limit=len(TEXT)) == TEXT
    with pytest.raises(WireError, match="more than"):
        decompress(codec, packed, limit=len(TEXT) - 1)


@pytest.mark.parametrize("codec", PACKERS)
def test_a_limit_holds_for_all_members_and_blocks_together(codec: Codec) -> None:
    bomb = compress(codec, bytes(4 << 20))
    packed = compress(codec, b"small") + bomb if codec is not Codec.LZ4 else bomb
    with pytest.raises(WireError, match="more than"):
        decompress(codec, packed, limit=1 << 20)


LEVELS = {
    Codec.GZIP: ([-1, 1, 9], [-2, 10, 10**30]),
    Codec.LZ4: ([1, 9, 17], [0, 18, 10**30]),
    Codec.ZSTD: ([-5, 1, 22], [23, 10**30]),
}


@pytest.mark.parametrize("codec", LEVELS)
@pytest.mark.slow
def test_levels_are_those_of_topic_configs(codec: Codec) -> None:
    good, bad = LEVELS[codec]
    for level in good:
        assert decompress(codec, compress(codec, TEXT, level)) == TEXT
    for level in bad:
        with pytest.raises(WireError, match="no level"):
            compress(codec, TEXT, level)


def test_a_codec_that_does_not_exist_cannot_be_written() -> None:
    with pytest.raises(WireError, match="no compression codec 5"):
        compress(5, b"")


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "snappy", None)
    with pytest.raises(WireError, match="needs the Python package python-snappy"):
        decompress(Codec.SNAPPY, xerial(TEXT))


def test_no_library_is_imported_before_it_is_used() -> None:
    code = (
        "import sys, odradek.wire.records, odradek.wire.scan\n"
        "print([name for name in ('lz4', 'snappy', 'zstandard') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD])
def test_what_is_large_is_decompressed_in_small_pieces(codec: Codec) -> None:
    pieces = decompress_in_pieces(codec, compress(codec, bytes(20 << 20)))
    sizes = list(pieces)
    assert sum(sizes) == 20 << 20
    # The first of zstd are given more bytes than a bomb should be.
    assert max(sizes) <= (9 << 20 if codec == Codec.ZSTD else 1 << 20)
    assert len(sizes) >= 10
