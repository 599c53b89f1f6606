"""The faults of a disk in memory: fill up, fail, tear, be slow, change a bit.

Each fault is a verb and holds until `heal`:

    disk.fill(after_bytes=1000)             the write that needs more room ends short: ENOSPC
    disk.fail_writes("orders-0/*")          no write, rename, removal or new name there: EIO
    disk.tear_next_write("*.log", keep=10)  the next write leaves its first 10 bytes: EIO; once
    disk.fail_reads("*.index")              EIO
    disk.fail_syncs()                       EIO, and nothing is made durable
    disk.delay_syncs(0.5)                   or a function to be called, like a gate's `wait`
    disk.heal()                             ends all of these; their effects stay

A path is a pattern below the disk's root, as in `fnmatch`: `*` also matches slashes. A full disk
has space again when files are truncated or removed. Replacing bytes and new names need no space;
new folders need some.

Left out: faults by number or by chance, which rules on the disk of an Emulator have (watch.py).
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from fnmatch import fnmatchcase

EVERYWHERE = "*"


class Faults:
    """The faults of one disk. Paths are relative to its root."""

    def __init__(self) -> None:
        self._room: int | None = None
        self._unwritable: list[str] = []
        self._unreadable: list[str] = []
        self._unsyncable: list[str] = []
        self._torn: tuple[str, int] | None = None
        self._wait: Callable[[], object] | None = None

    def fill(self, *, after_bytes: int = 0) -> None:
        """Let files grow by `after_bytes` in total, and no further."""
        self._room = after_bytes

    def fail_writes(self, path: str = EVERYWHERE) -> None:
        """Refuse every change to matching files and names."""
        self._unwritable.append(path)

    def tear_next_write(self, path: str = EVERYWHERE, *, keep: int) -> None:
        """Let the next write to a matching file fail with only its first `keep` bytes done."""
        self._torn = path, keep

    def fail_reads(self, path: str = EVERYWHERE) -> None:
        """Refuse to read matching files."""
        self._unreadable.append(path)

    def fail_syncs(self, path: str = EVERYWHERE) -> None:
        """Let every sync of a matching file or folder fail (the root is "")."""
        self._unsyncable.append(path)

    def delay_syncs(self, by: float | Callable[[], object]) -> None:
        """Let every sync take `by` seconds longer, or until `by()` returns."""
        self._wait = by if callable(by) else lambda: time.sleep(by)

    def heal(self) -> None:
        """End every fault."""
        self._room = self._torn = self._wait = None
        for patterns in (self._unwritable, self._unreadable, self._unsyncable):
            patterns.clear()

    # What the disk calls.

    def _check_change(self, path: str) -> None:
        _refuse(self._unwritable, path)

    def _check_read(self, path: str) -> None:
        _refuse(self._unreadable, path)

    def _check_sync(self, path: str) -> None:
        _refuse(self._unsyncable, path)

    def _writable(self, path: str, size: int, position: int, length: int) -> tuple[int, int]:
        """How many bytes of a write to a file of `size` bytes are done, and the errno, or 0."""
        if self._torn is not None and fnmatchcase(path, self._torn[0]):
            done = min(self._torn[1], length)
            self._torn = None
            return done, errno.EIO
        grows = position + length - size
        if self._room is None or grows <= 0:
            return length, 0
        if grows > self._room:
            done = max(0, size + self._room - position)
            self._room -= max(0, position + done - size)
            return done, errno.ENOSPC
        self._room -= grows
        return length, 0

    def _check_room(self, path: str) -> None:
        if self._room == 0:
            raise failure(errno.ENOSPC, path)

    def _freed(self, size: int) -> None:
        if self._room is not None:
            self._room += size


def failure(code: int, path: str) -> OSError:
    """The error an operating system gives."""
    return OSError(code, os.strerror(code), path)


def _refuse(patterns: list[str], path: str) -> None:
    if any(fnmatchcase(path, pattern) for pattern in patterns):
        raise failure(errno.EIO, path)
