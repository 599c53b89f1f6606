"""Watch: an observer is called before each operation on files, and may make it fail.

The operations, by the names that tests use:

    append      a batch is written to a segment; it is also a write
    write       bytes of any file are written or truncated
    read, sync  of a file; sync also of a directory
    create      a file or a directory
    rename, delete, list

A disk in memory tells of them as a directory of real files does. There is no observer by default,
and that costs one look.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Observer: TypeAlias = Callable[[str, str, int], None]
"""Called in any thread with an operation, a path, and how many bytes it is about. What it raises
the operation raises; a Torn of a write is raised once its first bytes are written."""


class Watch:
    __slots__ = ("observer",)

    def __init__(self) -> None:
        self.observer: Observer | None = None


class Torn(OSError):
    """Only the first bytes of a write are done: `keep` of them."""

    keep = 0
