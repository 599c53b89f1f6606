"""Levels of compression on Kafka's scale: 9 of lz4 is its default, the fast compressor."""

from __future__ import annotations

from functools import cache
from random import Random

import pytest
from odradek.wire.compression import Codec, compress, decompress

LIMIT = 1 << 20


@cache
def text() -> bytes:
    random = Random(3)
    words = [bytes(random.choices(b"abcdefghij", k=random.randint(2, 9))) for _ in range(300)]
    return b" ".join(random.choice(words) for _ in range(20_000))


def test_lz4_by_default_is_fast_and_any_other_level_is_smaller() -> None:
    data = text()
    default = compress(Codec.LZ4, data, 9)
    assert default == compress(Codec.LZ4, data)
    assert len(compress(Codec.LZ4, data, 3)) < len(default)
    assert len(compress(Codec.LZ4, data, 8)) < len(default)


@pytest.mark.parametrize("level", [None, -5, 3, 22])
def test_zstd_is_written_as_a_stream_that_ends_with_an_empty_block(level: int | None) -> None:
    data = text()
    packed = compress(Codec.ZSTD, data, level)
    assert packed.endswith(b"\x01\x00\x00")
    assert decompress(Codec.ZSTD, packed, LIMIT) == data
