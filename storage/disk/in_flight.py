"""Bytes of files that are read when they are sent.

What is on its way to a client that reads slowly, or not at all, takes no memory: an answer has
`StoredBytes`, which say where in a file they are. They stay what they were, whatever happens to the
file: before it is closed to be removed, or truncated below them, they keep it open for themselves.
Only so many files are kept open that way; what was in flight of others can no longer be read, and
whoever sends it has to close its connection. (A real broker does so with each file that it removes
meanwhile.)
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from typing import Protocol, TypeAlias

from ...wire.primitives import Buffer

_PIECE = 1 << 17
KEPT_MAX = 64
"""How many removed files are kept open."""

Read: TypeAlias = Callable[[int, int], Buffer]
"""Called with a position and a size; returns at least one byte of it. Raises OSError."""


class Piecewise(Protocol):
    """A file, as far as this module uses it."""

    path: str

    def piece(self, position: int, size: int) -> Buffer:
        """As many bytes from `position` on as are easily read; at least one. Raises OSError."""

    def kept(self, end: int) -> Read:
        """How to read the bytes before `end` once the file is closed. Raises OSError."""


class Source:
    """One file for all that is in flight of it."""

    __slots__ = ("__weakref__", "_path", "_read", "end")

    def __init__(self, file: Piecewise) -> None:
        self.end = 0
        """Where the last of the bytes end that may be asked for."""
        self._path = file.path
        self._read: Read | None = file.piece

    def keep(self, file: Piecewise) -> None:
        """The file is about to be closed or truncated."""
        try:
            self._read = file.kept(self.end)
        except OSError:
            self._read = None

    def read(self, position: int, size: int) -> Buffer:
        """As many bytes from `position` on as are easily read; at least one. Raises OSError."""
        if self._read is None:
            raise OSError(errno.EIO, "removed while it was sent", self._path)
        return self._read(position, size)


class StoredBytes:
    """Some bytes of a file, in a response that is to be sent (wire/frames.py: Stored)."""

    __slots__ = ("_position", "_size", "_source")

    def __init__(self, source: Source, position: int, size: int) -> None:
        self._source = source
        self._position = position
        self._size = size
        source.end = max(source.end, position + size)

    def __len__(self) -> int:
        return self._size

    def part(self, start: int, end: int) -> StoredBytes:
        return StoredBytes(self._source, self._position + start, end - start)

    def read(self, position: int, most: int) -> Buffer:
        """Some of them, from `position` on: at least one byte. Raises OSError."""
        return self._source.read(self._position + position, min(most, self._size - position))


class KeptOpen:
    """A descriptor of a file that has no name any more, perhaps. Closed with its last reader."""

    __slots__ = ("_fd", "_path")
    _count = 0

    def __init__(self, fd: int, path: str) -> None:
        """Takes a descriptor of its own. Raises OSError."""
        self._fd = -1
        if KeptOpen._count >= KEPT_MAX:
            raise OSError(errno.EMFILE, "too many removed files are kept open", path)
        self._path = path
        self._fd = os.dup(fd)
        KeptOpen._count += 1

    def __del__(self) -> None:
        if self._fd >= 0:
            KeptOpen._count -= 1
            os.close(self._fd)

    def read(self, position: int, size: int) -> bytes:
        """Up to `size` bytes. Raises OSError."""
        data = os.pread(self._fd, min(size, _PIECE), position)
        if not data:
            raise OSError(errno.EIO, f"ends before byte {position + 1}", self._path)
        return data
