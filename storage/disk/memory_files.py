"""The classes of directory.py for a disk in memory: the same methods, with the same docstrings and
errors. The disk itself, and what can be done to it, is memory.py.

Their only state is which file of the disk they have open.
"""

from __future__ import annotations

import errno
from contextlib import suppress
from typing import TYPE_CHECKING

from ...wire.primitives import Buffer
from .directory import MAPPED_FROM, Descriptors, Directory, File, FileLock, Handle, Locked
from .in_flight import Read
from .unsynced import Content, Folder

if TYPE_CHECKING:
    from .memory import MemoryDisk

ROOT = "memory:"
"""How the paths of these directories begin, for example in errors."""


class MemoryFile(File):
    __slots__ = ("_content", "_disk")

    def __init__(self, disk: MemoryDisk, path: str) -> None:
        self.path = path
        self._disk = disk
        self._content: Content | None = None
        self._closed = False
        self._source = None

    def create(self) -> None:
        self._content = self._opened(create=True)

    def write(self, data: Buffer, position: int) -> None:
        self._disk._write(self.path, self._held(), data, position)

    def read(self, position: int, size: int) -> Buffer:
        content = self._held()
        data = self._disk._read(self.path, content, position, size)
        if len(data) != size:
            raise self._ends_early(position, size)
        return data

    def piece(self, position: int, size: int) -> Buffer:
        return self.read(position, min(size, MAPPED_FROM))

    def kept(self, end: int) -> Read:
        data = bytes(self._held().data[:end])
        return lambda position, size: data[position : position + size]

    def size(self) -> int:
        return len(self._held().data)

    def is_removed(self) -> bool:
        return False

    def truncate(self, size: int) -> None:
        content = self._held()
        self._let_go(size)
        self._disk._truncate(self.path, content, len(content.data), size)

    def sync(self) -> None:
        self._disk._sync(self.path, self._held())

    def release(self) -> None:
        self._content = None

    def _held(self) -> Content:
        content = self._content
        if content is None:
            content = self._content = self._opened(create=False)
        return content

    def _opened(self, *, create: bool) -> Content:
        if self._closed:
            raise OSError(errno.EBADF, "closed", self.path)
        return self._disk._open(self.path, create=create)


class MemoryHandle(Handle):
    """A file or folder held open for a sync."""

    __slots__ = ("_disk", "_node", "_path")

    def __init__(self, disk: MemoryDisk, path: str) -> None:
        self._disk = disk
        self._path = path
        self._node = disk._node(path)

    def sync(self) -> None:
        self._disk._sync(self._path, self._node)

    def close(self) -> None:
        """Nothing has to be closed."""


class MemoryDirectory(Directory):
    shares_files = False

    def __init__(self, disk: MemoryDisk, path: str, *, durable: bool) -> None:
        self.path = path
        self.durable = durable
        self.descriptors = Descriptors()  # stays empty: nothing here uses up the system's
        self._disk = disk

    @property
    def absolute_path(self) -> str:
        return self.path

    def child(self, name: str) -> Directory:
        return MemoryDirectory(self._disk, self._at(name), durable=self.durable)

    def with_own_descriptors(self) -> Directory:
        return MemoryDirectory(self._disk, self.path, durable=self.durable)

    def make(self) -> None:
        self._disk._make(self.path)

    def exists(self, name: str = "") -> bool:
        try:
            self._disk._node(self._at(name))
        except OSError:
            return False
        return True

    def is_accessible(self) -> bool:
        return self.exists()

    def files(self) -> dict[str, int]:
        self._tell("list")
        entries = dict(self._disk._folder(self.path).entries)
        return {name: len(it.data) for name, it in entries.items() if isinstance(it, Content)}

    def names(self) -> list[str]:
        self._tell("list")
        return list(self._disk._folder(self.path).entries)

    def directories(self) -> list[str]:
        self._tell("list")
        entries = dict(self._disk._folder(self.path).entries)
        return sorted(name for name, it in entries.items() if isinstance(it, Folder))

    def read_bytes(self, name: str) -> bytes:
        content = self._disk._content(self._at(name))
        return self._disk._read(self._at(name), content, 0, len(content.data))

    def file(self, name: str) -> File:
        return MemoryFile(self._disk, self._at(name))

    def rename(self, old: str, new: str) -> None:
        self._disk._rename(self._at(old), self._at(new))

    def remove(self, name: str) -> None:
        if self.exists(name):
            self._disk._content(self._at(name))  # raises for a folder
            self._disk._remove(self._at(name))

    def remove_directory(self, name: str) -> None:
        self._disk._folder(self._at(name))
        self._disk._remove(self._at(name))

    def modified_ms(self, name: str) -> int:
        return self._disk._content(self._at(name)).modified_ms

    def identity(self, name: str) -> tuple[int, int, int, int] | None:
        return None

    def is_shared(self, name: str) -> bool:
        return False

    def set_modified_ms(self, name: str, now_ms: int) -> None:
        self._disk._content(self._at(name)).modified_ms = now_ms

    def set_read_only(self, name: str) -> None:
        self._disk._content(self._at(name))  # raises if it is missing; there are no permissions

    def space(self) -> tuple[int, int] | None:
        return None

    def lock(self, name: str) -> FileLock:
        return MemoryLock(self._disk, self._at(name))

    def is_locked(self, name: str) -> bool:
        with self._disk._guard:
            return self._at(name) in self._disk._locked

    def handle(self, name: str = "") -> Handle:
        return MemoryHandle(self._disk, self._at(name))

    def _tell(self, operation: str, name: str = "") -> None:
        self._disk._tell(operation, self._at(name))


class MemoryLock(FileLock):
    def __init__(self, disk: MemoryDisk, path: str) -> None:
        with disk._guard:
            if path in disk._locked:
                raise Locked(path)
            disk._open(path, create=True)
            disk._locked.add(path)
        self._disk = disk
        self._path = path

    def release(self, *, remove: bool = True) -> None:
        with self._disk._guard:
            self._disk._locked.discard(self._path)
            if remove:
                with suppress(OSError):
                    self._disk._remove(self._path)


def relative_path(path: str) -> str:
    """A path as testers see it, relative to the root."""
    return path[len(ROOT) + 1 :]
