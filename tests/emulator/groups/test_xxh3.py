"""The hash xxh3, against its reference."""

from __future__ import annotations

import pytest
from odradek.emulator.groups.xxh3 import xxh3_64


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (0, 0x2D06800538D394C2),
        (1, 0xC44BDFF4074EECDB),
        (3, 0xC3489259E968AD9E),
        (4, 0xD3D60C1519014E89),
        (8, 0xB88DEE77F6BF6980),
        (9, 0x03688DCAD730D826),
        (16, 0x9DA23836ADF2BE1E),
        (17, 0xF34C3C9CF5A112D1),
        (128, 0x4C659B745F435148),
        (129, 0xB85222B83902B6E5),
        (240, 0xD6DFBF67B0675B54),
        (241, 0xC614C8C3575348C1),
        (1024, 0xF22EF3DC84FF47EA),
        (1025, 0x43F869A83769A435),
        (3000, 0xB3EACB6E81DD90F0),
    ],
)
def test_xxh3_agrees_with_its_reference(length: int, expected: int) -> None:
    assert xxh3_64(bytes(n * 7 % 251 for n in range(length))) == expected
