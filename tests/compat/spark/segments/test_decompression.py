"""Decompressing at once and in steps: the same, of whole and of damaged data."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Callable

import lz4.frame
import pytest
import zstandard
from odradek.compat.spark.segments.columnar import decompressed
from odradek.wire import WireError
from odradek.wire.compression import Codec, compress, decompress

LIMIT = 1 << 20


def outcome(way: Callable[..., object], codec: int, data: bytes, limit: int) -> bytes | str:
    try:
        return bytes(way(codec, memoryview(data), limit))  # type: ignore[call-overload]
    except WireError as error:
        return str(error)


def assert_same(codec: int, data: bytes, limit: int = LIMIT) -> None:
    expected = outcome(decompress, codec, data, limit)
    assert outcome(decompressed, codec, data, limit) == expected, (codec, data.hex(), limit)


TEXTS = [b"", b"x", b"abc " * 1000, bytes(300_000), random.Random(1).randbytes(70_000)]


@pytest.mark.parametrize("codec", Codec)
def test_whole_data(codec: Codec) -> None:
    for text in TEXTS:
        data = compress(codec, text)
        assert bytes(decompressed(codec, data, LIMIT)) == text
        for limit in (len(text), max(0, len(text) - 1), 10):
            assert_same(codec, data, limit)
        assert_same(codec, data + data)
        assert_same(codec, data + b"x")


@pytest.mark.parametrize("codec", Codec)
def test_damaged_data(codec: Codec) -> None:
    chance = random.Random(2)
    for _ in range(2000):
        data = bytearray(compress(codec, chance.choice(TEXTS[:3]) + chance.randbytes(20)))
        for _ in range(chance.randint(1, 2)):
            data[chance.randrange(min(len(data), 40))] ^= 1 << chance.randrange(8)
        assert_same(codec, bytes(data[: chance.choice([len(data), chance.randrange(len(data))])]))


def test_other_framings() -> None:
    text = b"abc " * 1000
    assert_same(Codec.ZSTD, zstandard.compress(text))
    assert_same(Codec.ZSTD, zstandard.compress(text)[:-3])
    for linked in (False, True):
        for checked in (False, True):
            for sized in (False, True):
                data = lz4.frame.compress(
                    text, block_linked=linked, content_checksum=checked, store_size=sized
                )
                assert_same(Codec.LZ4, data)


@pytest.mark.parametrize("codec", [Codec.ZSTD, Codec.LZ4])
def test_a_bomb_takes_no_more_memory_than_the_limit(codec: Codec) -> None:
    data = compress(codec, bytes(256 << 20))
    liar = bytearray(zstandard.compress(bytes(256 << 20)))
    tracemalloc.start()
    try:
        for bomb in (data, bytes(liar) if codec == Codec.ZSTD else data):
            with pytest.raises(WireError, match="more than"):
                decompressed(codec, bomb, LIMIT)
        assert tracemalloc.get_traced_memory()[1] < 8 * LIMIT
    finally:
        tracemalloc.stop()
