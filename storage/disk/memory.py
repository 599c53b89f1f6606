"""MemoryDisk: a disk in memory that can lose power, fill up, and fail.

    disk = MemoryDisk()
    with Emulator(disk=disk) as kafka:
        ...
        after = disk.crash(Random(7))   # what a power cut now leaves
    with Emulator(disk=after) as kafka:
        ...

Rules:

- Its directories and files behave as those of directory.py do, and replace them: an open file is
  the same file after a rename or removal; what a read returned never changes.
- `kill` is the disk after the process died: everything written is there. `crash` is the disk after
  a power cut: unsynced.py says what can be lost. Both return another disk, with nothing locked and
  no faults, and leave this one as it is.
- `on_change` is called after every change and every sync, with a few words that name it. So a test
  can take a `crash()` between any two of them.
- The classes of directory.py for it have the same methods, with the same docstrings and errors;
  their only state is which file of the disk they have open.
- The verbs of faults.py are methods: `fill`, `tear_next_write`, `fail_syncs`, …, `heal`.

Any thread may use it, as the flusher's does. Left out: permissions, links, and a limit of open
files. Reads copy: nothing is mapped.
"""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from os import PathLike
from pathlib import Path
from random import Random
from threading import RLock
from typing import cast

from ...wire.primitives import Buffer
from .directory import MAPPED_FROM, Descriptors, Directory, File, FileLock, Handle, Locked
from .faults import Faults, failure
from .in_flight import Read
from .unsynced import Content, Folder, Node
from .watch import Torn, Watch

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


def system_ms() -> int:
    """The system's clock, in milliseconds."""
    return time.time_ns() // 1_000_000


class MemoryDisk(Faults):
    """A disk in memory. Paths in its methods are relative to its root: "orders-0/….log".

    `now_ms` gives files their dates. Read only: `changes`, how many there were, with syncs.
    """

    def __init__(self, *, now_ms: Callable[[], int] = system_ms) -> None:
        super().__init__()
        self.on_change: Callable[[str], None] | None = None
        self.changes = 0
        self.watch = Watch()
        self._now_ms = now_ms
        self._guard = RLock()
        self._root = Folder()
        self._locked: set[str] = set()

    def directory(self, path: str = "", *, durable: bool = False) -> Directory:
        """A directory on this disk, as `LogDirectory.open` takes it; by default the root.

        `durable`: replacing, rolling and closing wait for a sync, as directory.py says.
        """
        return MemoryDirectory(self, f"{ROOT}/{path}" if path else ROOT, durable=durable)

    # For tests.

    def kill(self) -> MemoryDisk:
        """The disk as the next process finds it if this one dies now."""
        return self._twin(Folder.copied)

    def crash(self, random: Random | None = None) -> MemoryDisk:
        """The disk as it could be after a power cut now; `random` decides what is left.

        Without it only what was synced is left.
        """
        return self._twin(lambda root: root.surviving(random))

    def sync(self, path: str = "") -> None:
        """Make everything below a folder durable, by default all. Raises OSError."""
        with self._guard:
            self._folder(f"{ROOT}/{path}" if path else ROOT).sync_all()
            self._changed(f"sync all below {path}".rstrip())

    def be(self, other: MemoryDisk) -> None:
        """Have what another disk has, which is not to be used any more. Nothing may be open."""
        with self._guard:
            self._root = other._root
            self._changed("be another disk")

    def files(self) -> dict[str, int]:
        """Path and size of every file, in order."""
        with self._guard:
            return {path: len(content.data) for path, content in _walk(self._root, "")}

    def read_bytes(self, path: str) -> bytes:
        """A file's content, whatever faults there are. Raises OSError."""
        with self._guard:
            return bytes(self._content(f"{ROOT}/{path}").data)

    def write_bytes(self, path: str, data: Buffer) -> None:
        """Write a file durably, creating it if need be. Raises OSError if its folder is missing."""
        with self._guard:
            folder, name = self._locate(f"{ROOT}/{path}")
            content = folder.entries.get(name)
            if isinstance(content, Content):
                content.data[:] = data
                content.synced(content.unsynced)
            else:
                folder.change({name: Content(self._now_ms(), data)})
                folder.synced(folder.unsynced)

    def flip(self, path: str, byte: int, bit: int = 0) -> None:
        """Change one bit of a file; bit 0 is the lowest. Raises OSError, IndexError."""
        with self._guard:
            self._content(f"{ROOT}/{path}").data[byte] ^= 1 << bit

    def copy_to(self, path: str | PathLike[str]) -> None:
        """Write every file below a real directory, for tools that read one. Raises OSError."""
        with self._guard:
            for name, content in _walk(self._root, ""):
                target = Path(path, name)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content.data)

    def contents(self) -> dict[str, tuple[bytes, int]]:
        """Path, bytes and date (ms) of every file, in order."""
        with self._guard:
            return {
                path: (bytes(content.data), content.modified_ms)
                for path, content in _walk(self._root, "")
            }

    def replace(self, contents: Mapping[str, tuple[bytes, int]]) -> None:
        """Have these files, durably, and no others. Nothing may be open."""
        with self._guard:
            self._freed(sum(len(content.data) for _, content in _walk(self._root, "")))
            self._root = Folder()
            for path, (data, modified_ms) in contents.items():
                *above, name = path.split("/")
                folder = self._root
                for each in above:
                    folder = cast(Folder, folder.entries.setdefault(each, Folder()))
                folder.entries[name] = Content(modified_ms, data)
            self._changed("replace everything")

    def _twin(self, copy: Callable[[Folder], Folder]) -> MemoryDisk:
        with self._guard:
            twin = MemoryDisk(now_ms=self._now_ms)
            twin._root = copy(self._root)
            return twin

    # For its directories and files. Paths begin with the root's name from here on.

    def _changed(self, what: str) -> None:
        self.changes += 1
        if self.on_change is not None:
            self.on_change(what)

    def _node(self, path: str) -> Node:
        node: Node = self._root
        for name in path.split("/")[1:]:
            if isinstance(node, Content):
                raise failure(errno.ENOTDIR, path)
            if name not in node.entries:
                raise failure(errno.ENOENT, path)
            node = node.entries[name]
        return node

    def _content(self, path: str) -> Content:
        node = self._node(path)
        if isinstance(node, Folder):
            raise failure(errno.EISDIR, path)
        return node

    def _folder(self, path: str) -> Folder:
        node = self._node(path)
        if isinstance(node, Content):
            raise failure(errno.ENOTDIR, path)
        return node

    def _locate(self, path: str) -> tuple[Folder, str]:
        above, _, name = path.rpartition("/")
        return self._folder(above), name

    def _tell(self, operation: str, path: str, size: int = 0) -> None:
        if (observer := self.watch.observer) is not None:
            observer(operation, relative_path(path), size)

    def _open(self, path: str, *, create: bool) -> Content:
        if create:
            self._tell("create", path)
        with self._guard:
            folder, name = self._locate(path)
            if create:
                self._check_change(relative_path(path))
                if name not in folder.entries:
                    folder.change({name: Content(self._now_ms())})
                    self._changed(f"create {relative_path(path)}")
                elif size := len(self._content(path).data):
                    self._truncate(path, self._content(path), size, 0)
            return self._content(path)

    def _write(self, path: str, content: Content, data: Buffer, position: int) -> None:
        name = relative_path(path)
        try:
            self._tell("write", path, len(data))
        except Torn as torn:
            with self._guard:
                content.write(bytes(data[: torn.keep]), position)
            raise
        with self._guard:
            self._check_change(name)
            size = len(data)
            done, code = self._writable(name, len(content.data), position, size)
            if done:
                content.write(data if done == size else bytes(data[:done]), position)
                content.modified_ms = self._now_ms()
                self._changed(f"write {name} {position}+{done}")
            if code:
                raise failure(code, name)

    def _read(self, path: str, content: Content, position: int, size: int) -> bytes:
        self._tell("read", path, size)
        with self._guard:
            self._check_read(relative_path(path))
            with memoryview(content.data) as view:
                return bytes(view[position : position + size])

    def _truncate(self, path: str, content: Content, size: int, to: int) -> None:
        self._tell("write", path)
        with self._guard:
            self._check_change(relative_path(path))
            if to > size:
                content.write(bytes(to - size), size)
            content.truncate(to)
            self._freed(size - to)
            self._changed(f"truncate {relative_path(path)} {to}")

    def _sync(self, path: str, node: Node) -> None:
        self._tell("sync", path)
        with self._guard:
            covered, wait = node.unsynced, self._wait
        if wait is not None:
            wait()
        with self._guard:
            self._check_sync(relative_path(path))
            node.synced(covered)
            self._changed(f"sync {relative_path(path)}".rstrip())

    def _make(self, path: str) -> None:
        with self._guard:
            above, _, name = path.rpartition("/")
            if not name or path == ROOT:
                return
            self._make(above)
            folder = self._folder(above)
            if name not in folder.entries:
                self._tell("create", path)
                self._check_change(relative_path(path))
                self._check_room(relative_path(path))
                folder.change({name: Folder()})
                self._changed(f"mkdir {relative_path(path)}")

    def _rename(self, old: str, new: str) -> None:
        self._tell("rename", old)
        with self._guard:
            (folder, name), (target, new_name) = self._locate(old), self._locate(new)
            node = self._node(old)
            self._check_change(relative_path(old))
            self._check_change(relative_path(new))
            replaced = target.entries.get(new_name)
            if isinstance(replaced, Folder):
                raise failure(errno.ENOTEMPTY, relative_path(new))
            if folder is not target:
                raise failure(errno.EXDEV, relative_path(new))
            folder.change({name: None, new_name: node})
            if replaced is not None:
                self._freed(len(replaced.data))
            self._changed(f"rename {relative_path(old)} {new_name}")

    def _remove(self, path: str) -> None:
        self._tell("delete", path)
        with self._guard:
            folder, name = self._locate(path)
            self._check_change(relative_path(path))
            node = self._node(path)
            if isinstance(node, Folder):
                for child in list(node.entries):
                    self._remove(f"{path}/{child}")
            else:
                self._freed(len(node.data))
            folder.change({name: None})
            self._changed(f"remove {relative_path(path)}")


def _walk(folder: Folder, prefix: str) -> Iterator[tuple[str, Content]]:
    """Path and content of every file below."""
    for name, node in sorted(folder.entries.items()):
        if isinstance(node, Content):
            yield prefix + name, node
        else:
            yield from _walk(node, f"{prefix}{name}/")
