"""CRC-32C, from the C function of a package that is not imported itself."""

from __future__ import annotations

import subprocess
import sys
from importlib.machinery import ModuleSpec, PathFinder

import crc32c as package
import pytest
from odradek.wire import checksum

CHECK = b"123456789", 0xE3069283
"""From the catalogue of CRCs."""


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_the_checksum_of_any_buffer(kind: type) -> None:
    text, expected = CHECK
    assert checksum.crc32c(kind(text)) == expected
    assert package.crc32c(text) == expected


def test_where_the_function_is_not_found_the_package_has_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def none(name: str, path: object = None) -> ModuleSpec | None:
        return None

    monkeypatch.setattr(PathFinder, "find_spec", none)
    assert checksum._function() is package.crc32c


def test_the_package_is_not_imported() -> None:
    program = "import sys, odradek.wire.checksum; sys.exit('crc32c' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
