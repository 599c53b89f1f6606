"""Jute, ZooKeeper's serialization: big-endian numbers; buffers, strings and vectors with an int32
of their length in front, -1 for null; records are their fields one after the other."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from .errors import Malformed

T = TypeVar("T")
_INT = struct.Struct(">i")
_LONG = struct.Struct(">q")
_NULL = _INT.pack(-1)


class Reader:
    """Reads one value after the other. Raises Malformed where there are too few bytes."""

    __slots__ = ("_at", "_data")

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    @property
    def is_at_end(self) -> bool:
        return self._at >= len(self._data)

    @property
    def at(self) -> int:
        """How many bytes were read."""
        return self._at

    def i32(self) -> int:
        return int(_INT.unpack(self._take(4))[0])

    def i64(self) -> int:
        return int(_LONG.unpack(self._take(8))[0])

    def flag(self) -> bool:
        return self._take(1) != b"\0"

    def buffer(self) -> bytes | None:
        """Bytes, or None."""
        length = self.i32()
        if length == -1:
            return None
        if length < 0:
            raise Malformed(f"a length of {length}")
        return self._take(length)

    def text(self) -> str:
        """A string; null is empty, as no request has use for it."""
        return (self.buffer() or b"").decode(errors="replace")

    def vector(self, item: Callable[[Reader], T]) -> list[T] | None:
        """Items, or None."""
        count = self.i32()
        if count == -1:
            return None
        if not 0 <= count <= len(self._data):
            raise Malformed(f"a vector of {count} items")
        return [item(self) for _ in range(count)]

    def texts(self) -> list[str]:
        return self.vector(Reader.text) or []

    def _take(self, count: int) -> bytes:
        end = self._at + count
        if end > len(self._data):
            raise Malformed(f"{count} bytes at {self._at} of {len(self._data)}")
        found, self._at = self._data[self._at : end], end
        return found


def i32(*values: int) -> bytes:
    return b"".join(map(_INT.pack, values))


def i64(*values: int) -> bytes:
    return b"".join(map(_LONG.pack, values))


def flag(value: bool) -> bytes:
    return b"\1" if value else b"\0"


def buffer(value: bytes | None) -> bytes:
    """Bytes, or None."""
    return _NULL if value is None else _INT.pack(len(value)) + value


def text(value: str) -> bytes:
    return buffer(value.encode())


def texts(values: Sequence[str]) -> bytes:
    return vector(map(text, values), len(values))


def vector(items: Iterable[bytes], count: int) -> bytes:
    """Items that are encoded already."""
    return _INT.pack(count) + b"".join(items)
