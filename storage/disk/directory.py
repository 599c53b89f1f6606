"""Files below one path: the only module of this package that calls the operating system.

Logs use a `Directory` for all their files, so another one can replace it: memory.py has one in
memory, which loses what was not synced. Rules:

- A `File` is written at positions, usually by one `pwrite`, and read by `pread`; a read of more
  than MAPPED_FROM bytes returns a view into a mapping of just that window, so that answers of many
  megabytes take page cache instead of heap. (Measured with stock consumers of 12 partitions: a
  third of the system time of copying, and 1.5 times the throughput; a single short read is cheaper
  copied.) `read_later` returns what is not even mapped before it is sent (in_flight.py).
- What a read returned never changes, whatever happens to the file: unlinking leaves a mapping
  alone; truncating below a mapped window (which would kill a process that reads it) gives the file
  a new inode instead.
- Descriptors come from a pool that closes the least recently used one when it is full: at 128 of
  them, at an eighth of what the process may have (`ulimit -n`), or once the system has none left.
- Small files are replaced whole: written beside their name with `.tmp`, then renamed.
- `durable` decides whether replacing, rolling and closing wait for the disk. A test's files have to
  survive the process, not a power cut; so by default only an explicit `File.sync` does.

Not thread-safe. Left out: Windows, which has no `pread`.
"""

from __future__ import annotations

import errno
import fcntl
import os
import resource
import shutil
from collections import OrderedDict
from contextlib import suppress
from mmap import ALLOCATIONGRANULARITY, MAP_SHARED, PROT_READ, mmap
from pathlib import Path
from threading import Lock
from weakref import WeakSet, ref

from ...wire.primitives import Buffer
from .in_flight import KeptOpen, Read, Source, StoredBytes
from .watch import Torn, Watch

MAPPED_FROM = 1 << 17
"""A read of more bytes than this is a view into a mapping."""
_WINDOW_BYTES = 4 << 20
_WINDOWS_MAX = 64  # a mapping keeps a descriptor of its own until Python 3.13
_COPY_BYTES = 1 << 20
TMP = ".tmp"
"""How the name of a file ends while it is written, before it replaces another."""
_NO_DESCRIPTOR = (errno.EMFILE, errno.ENFILE)


class _Window(mmap):
    """A mapping that knows which file and bytes it shows."""

    inode: tuple[int, int]
    end: int


# Process-wide: a log may be closed and opened again while a reader has a view.
_windows: WeakSet[_Window] = WeakSet()


_POOL_MAX = 128
_SHARE = 8  # of the process's descriptors: one pool takes an eighth, and so do mapped windows


def descriptors_max(most: int) -> int:
    """A share of the descriptors that this process may have open, and `most` at most."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return most if soft == resource.RLIM_INFINITY else max(1, min(most, soft // _SHARE))


class Descriptors:
    """A pool of open file descriptors. The least recently used one is closed for a new one."""

    def __init__(
        self,
        limit: int | None = None,
        windows_max: int | None = None,
        watch: Watch | None = None,
    ) -> None:
        self.watch = Watch() if watch is None else watch
        self.limit = descriptors_max(_POOL_MAX) if limit is None else limit
        self.windows_max = descriptors_max(_WINDOWS_MAX) if windows_max is None else windows_max
        """No more windows are mapped while the process has this many."""
        self._open: OrderedDict[File, None] = OrderedDict()
        self.touch = self._open.move_to_end

    def __len__(self) -> int:
        return len(self._open)

    def open(self, path: str, flags: int) -> int:
        """Open a file or directory. Where the system has no descriptor left, files of the pool are
        closed for it, one after the other. Raises OSError."""
        while True:
            try:
                return os.open(path, flags | os.O_CLOEXEC, 0o644)
            except OSError as error:
                if error.errno not in _NO_DESCRIPTOR or not self._open:
                    raise
            next(iter(self._open)).release()

    def admit(self, file: File) -> None:
        """Add a file just opened, closing another one if need be."""
        while len(self._open) >= self.limit:
            next(iter(self._open)).release()
        self._open[file] = None

    def forget(self, file: File) -> None:
        self._open.pop(file, None)


class File:
    """One file, read and written at positions. Opened when needed. Methods raise OSError."""

    __slots__ = ("_closed", "_descriptors", "_fd", "_source", "path")

    def __init__(self, path: str, descriptors: Descriptors) -> None:
        self.path = path
        self._descriptors = descriptors
        self._fd = -1
        self._closed = False
        self._source: ref[Source] | None = None

    def create(self) -> None:
        """Create the file, empty, in place of any other, which stays as it is for whoever shares
        or reads it."""
        if (observer := self._descriptors.watch.observer) is not None:
            observer("create", self.path, 0)
        try:
            self._open(os.O_CREAT | os.O_EXCL)
        except FileExistsError:
            _unlink_if_there(self.path)
            self._open(os.O_CREAT | os.O_EXCL)

    def write(self, data: Buffer, position: int) -> None:
        """Write all of `data` at `position`. After an OSError any part may have been written."""
        fd = self._fd
        if fd < 0:
            fd = self._open()
        else:
            self._descriptors.touch(self)
        if (observer := self._descriptors.watch.observer) is not None:
            try:
                observer("write", self.path, len(data))
            except Torn as torn:
                os.pwrite(fd, bytes(data[: torn.keep]), position)
                raise
        written = os.pwrite(fd, data, position)
        if written != len(data):
            with memoryview(data) as rest:
                while written < len(data):
                    written += os.pwrite(fd, rest[written:], position + written)

    def read(self, position: int, size: int) -> Buffer:
        """Exactly `size` bytes from `position` on. OSError if the file has fewer."""
        fd = self._fd
        if fd < 0:
            fd = self._open()
        else:
            self._descriptors.touch(self)
        if (observer := self._descriptors.watch.observer) is not None:
            observer("read", self.path, size)
        if size > MAPPED_FROM and (window := self._window(fd, position, size)) is not None:
            return window
        data = os.pread(fd, size, position)
        if len(data) != size:
            raise self._ends_early(position, size)
        return data

    def read_later(self, position: int, size: int) -> Buffer | StoredBytes:
        """Like `read`, but more than MAPPED_FROM bytes are read only when they are asked for."""
        if size <= MAPPED_FROM:
            return self.read(position, size)
        if self.size() < position + size:
            raise self._ends_early(position, size)
        source = self._source() if self._source is not None else None
        if source is None:
            source = Source(self)
            self._source = ref(source)
        return StoredBytes(source, position, size)

    def piece(self, position: int, size: int) -> Buffer:
        """As many bytes from `position` on as are easily read; at least one."""
        if size > MAPPED_FROM:
            window = self._window(self._ready(), position, min(size, _WINDOW_BYTES))
            if window is not None:
                return window
        return self.read(position, min(size, MAPPED_FROM))

    def kept(self, end: int) -> Read:
        """How to read the bytes before `end` once the file is closed."""
        return KeptOpen(self._ready(), self.path).read

    def size(self) -> int:
        """The file's size in bytes."""
        return os.fstat(self._ready()).st_size

    def is_removed(self) -> bool:
        """Whether the file is open, and has no name any more: what is written to it is lost."""
        return self._fd >= 0 and os.fstat(self._fd).st_nlink == 0

    def truncate(self, size: int) -> None:
        """Truncate the file to `size` bytes; views of what is truncated stay as they were, and so
        does a file that is shared (mirror.py): what is written from now on is in a copy."""
        if (observer := self._descriptors.watch.observer) is not None:
            observer("write", self.path, 0)
        fd = self._ready()
        status = os.fstat(fd)
        inode = (status.st_dev, status.st_ino)
        shown = any(window.inode == inode and window.end > size for window in list(_windows))
        if self._let_go(size) or shown or status.st_nlink > 1:
            self._move_to_new_inode(fd, size)
        else:
            os.ftruncate(fd, size)

    def sync(self) -> None:
        """Return when everything is on disk."""
        if (observer := self._descriptors.watch.observer) is not None:
            observer("sync", self.path, 0)
        os.fsync(self._ready())

    def close(self) -> None:
        """Close for good: any later use raises OSError."""
        self._let_go(0)
        self.release()
        self._closed = True

    def release(self) -> None:
        """Close the descriptor; the file is opened again when needed."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
            self._descriptors.forget(self)

    def _let_go(self, size: int) -> bool:
        """A part in flight beyond `size` keeps the file as it is for itself, if there is any."""
        source = self._source() if self._source is not None else None
        if source is None or source.end <= size:
            return False
        source.keep(self)
        self._source = None
        return True

    def _ready(self) -> int:
        return self._fd if self._fd >= 0 else self._open()

    def _open(self, flags: int = 0) -> int:
        if self._closed:
            raise OSError(errno.EBADF, "closed", self.path)
        fd = self._descriptors.open(self.path, os.O_RDWR | flags)
        self._descriptors.admit(self)
        self._fd = fd
        return fd

    def _window(self, fd: int, position: int, size: int) -> memoryview | None:
        """A view into a mapping of these bytes. None where there are as many of them as may be, or
        no descriptor is left for one more: the bytes are to be copied then."""
        if len(_windows) >= self._descriptors.windows_max:
            return None
        try:
            return self._map(fd, position, size)
        except OSError as error:
            if error.errno not in _NO_DESCRIPTOR:
                raise
            return None

    def _map(self, fd: int, position: int, size: int) -> memoryview:
        start = position - position % ALLOCATIONGRANULARITY
        skipped = position - start
        try:
            window = _Window(fd, size + skipped, MAP_SHARED, PROT_READ, offset=start)
        except ValueError:  # a window past the end of the file
            raise self._ends_early(position, size) from None
        status = os.fstat(fd)
        window.inode = (status.st_dev, status.st_ino)
        window.end = position + size
        _windows.add(window)
        return memoryview(window)[skipped:]

    def _move_to_new_inode(self, fd: int, size: int) -> None:
        copy = self.path + TMP
        try:
            with open(copy, "wb") as out:
                for position in range(0, size, _COPY_BYTES):
                    out.write(os.pread(fd, min(_COPY_BYTES, size - position), position))
            os.replace(copy, self.path)
        except BaseException:
            _unlink_if_there(copy)
            raise
        self.release()

    def _ends_early(self, position: int, size: int) -> OSError:
        problem = f"ends before byte {position + size}"
        return OSError(errno.EIO, problem, self.path)


class Handle:
    """A file or directory kept open for a sync, in any thread."""

    __slots__ = ("_fd", "_path", "_watch")

    def __init__(self, path: str, descriptors: Descriptors) -> None:
        self._path = path
        self._watch = descriptors.watch
        self._fd = descriptors.open(path, os.O_RDONLY)

    def sync(self) -> None:
        """Return when everything is on disk. Raises OSError."""
        if (observer := self._watch.observer) is not None:
            observer("sync", self._path, 0)
        os.fsync(self._fd)

    def close(self) -> None:
        os.close(self._fd)


class Directory:
    """A directory, its files and subdirectories, named relative to it. Methods raise OSError.

    The directory itself need not exist until `make`.
    """

    shares_files = True
    """Whether an image of it may have the same files, instead of copies (mirror.py)."""

    def __init__(
        self, path: str | Path, *, durable: bool = False, descriptors: Descriptors | None = None
    ) -> None:
        self.path = os.fspath(path)
        if self.path.endswith("/"):
            self.path = self.path.rstrip("/") or "/"
        self.durable = durable
        self.descriptors = Descriptors() if descriptors is None else descriptors

    @property
    def absolute_path(self) -> str:
        """The whole path, as the system knows it."""
        return os.path.abspath(self.path)

    def child(self, name: str) -> Directory:
        """A subdirectory, whether it exists or not."""
        return Directory(self._at(name), durable=self.durable, descriptors=self.descriptors)

    def with_own_descriptors(self) -> Directory:
        """The same directory with descriptors of its own, for another thread."""
        own = Descriptors(watch=self.descriptors.watch)
        return Directory(self.path, durable=self.durable, descriptors=own)

    def make(self) -> None:
        """Create the directory and those above it, unless it exists."""
        if not self.exists():
            self._tell("create")
        os.makedirs(self.path, exist_ok=True)

    def exists(self, name: str = "") -> bool:
        """Whether a file or directory of that name exists; by default, the directory itself."""
        return os.path.exists(self._at(name))

    def is_accessible(self) -> bool:
        """Whether it exists, and its files can be listed, opened, created and removed."""
        return os.access(self.path, os.R_OK | os.W_OK | os.X_OK, effective_ids=True)

    def files(self) -> dict[str, int]:
        """Name and size of each plain file. Those that go meanwhile are left out."""
        self._tell("list")
        found = {}
        with os.scandir(self.path) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):  # another process writes here, and we only look
                    if entry.is_file():
                        found[entry.name] = entry.stat().st_size
        return found

    def names(self) -> list[str]:
        """The names of all files and subdirectories, in a fifth of the time of `files`."""
        self._tell("list")
        return os.listdir(self.path)

    def directories(self) -> list[str]:
        """The names of the subdirectories, sorted."""
        self._tell("list")
        with os.scandir(self.path) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir())

    def read_bytes(self, name: str) -> bytes:
        """All of a small file."""
        self._tell("read", name)
        with open(self._at(name), "rb", opener=self.descriptors.open) as file:
            return file.read()

    def write_atomic(self, name: str, data: Buffer) -> None:
        """Replace a small file whole: a crash leaves the old one or the new one."""
        beside = name + TMP
        file = self.file(beside)
        try:
            try:
                file.create()
                file.write(data, 0)
                if self.durable:
                    file.sync()
            finally:
                file.close()
            self.rename(beside, name)
        except BaseException:
            self.remove(beside)
            raise
        if self.durable:
            self.sync()

    def write_if_changed(self, name: str, data: Buffer) -> None:
        """As `write_atomic`, unless the file has these bytes already; a durable one always writes.

        A new file takes half a millisecond, and replacing one as much again (ext4).
        """
        try:
            is_there = not self.durable and self.read_bytes(name) == data
        except FileNotFoundError:
            is_there = False
        if not is_there:
            self.write_atomic(name, data)

    def file(self, name: str) -> File:
        """A file to be read or written at positions. It is not opened yet."""
        return File(self._at(name), self.descriptors)

    def rename(self, old: str, new: str) -> None:
        """Rename a file or subdirectory, replacing a file of the new name."""
        self._tell("rename", old)
        os.replace(self._at(old), self._at(new))

    def remove(self, name: str) -> None:
        """Unlink a file, if it exists."""
        self._tell("delete", name)
        _unlink_if_there(self._at(name))

    def remove_directory(self, name: str) -> None:
        """Remove a subdirectory with all it holds."""
        self._tell("delete", name)
        shutil.rmtree(self._at(name))

    def modified_ms(self, name: str) -> int:
        """When the file was last written to."""
        return os.stat(self._at(name)).st_mtime_ns // 1_000_000

    def identity(self, name: str) -> tuple[int, int, int, int] | None:
        """Which file it is, and in which state: another one, or one that was written to, differs.
        None where the system does not say."""
        status = os.stat(self._at(name))
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns

    def is_shared(self, name: str) -> bool:
        """Whether the file belongs to another directory as well (mirror.py)."""
        return os.stat(self._at(name)).st_nlink > 1

    def set_modified_ms(self, name: str, now_ms: int) -> None:
        """Set the file's date by the emulator's clock, which may not be the system's."""
        os.utime(self._at(name), ns=(now_ms * 1_000_000, now_ms * 1_000_000))

    def set_read_only(self, name: str) -> None:
        """Let only the owner read the file, and nobody write to it."""
        os.chmod(self._at(name), 0o400)

    def space(self) -> tuple[int, int] | None:
        """Total and available bytes of the file system; None for a disk in memory."""
        found = os.statvfs(self.path)
        return found.f_frsize * found.f_blocks, found.f_frsize * found.f_bavail

    def lock(self, name: str) -> FileLock:
        """Lock the directory by a file in it. Raises Locked if it is locked already."""
        return FileLock(self, name)

    def is_locked(self, name: str) -> bool:
        """Whether this or another process holds that lock, as far as the system says.

        Nothing is created. For a moment nobody else can take a lock that is free.
        """
        return _is_locked(os.path.realpath(self._at(name)))

    def handle(self, name: str = "") -> Handle:
        """Open a file, or by default the directory with its names, for a sync."""
        return Handle(self._at(name), self.descriptors)

    def sync(self) -> None:
        """Return when the directory's names are on disk."""
        handle = self.handle()
        try:
            handle.sync()
        finally:
            handle.close()

    def _at(self, name: str) -> str:
        return f"{self.path}/{name}" if name else self.path  # a third of os.path.join's time

    def _tell(self, operation: str, name: str = "") -> None:
        if (observer := self.descriptors.watch.observer) is not None:
            observer(operation, self._at(name), 0)


def _unlink_if_there(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return


class Locked(Exception):
    """Another process or object holds the lock."""


# A process may take its own record locks any number of times, and loses all of them when it closes
# the file once. So the locks of this process are listed here, and checked first.
_held: set[str] = set()
_held_guard = Lock()


class FileLock:
    """An exclusive lock on a file, the kind that Kafka takes, until `release` or the process ends.

    Raises Locked if this or another process has it.
    """

    def __init__(self, directory: Directory, name: str) -> None:
        self._path = os.path.realpath(os.path.join(directory.path, name))
        with _held_guard:
            if self._path in _held:
                raise Locked(self._path)
            self._fd = self._acquire()
            _held.add(self._path)

    def release(self, *, remove: bool = True) -> None:
        """Unlock, removing the file first; a file that is left does no harm."""
        with _held_guard:
            if remove:
                with suppress(OSError):
                    _unlink_if_there(self._path)
            os.close(self._fd)
            _held.discard(self._path)

    def _acquire(self) -> int:
        while True:
            fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if self._is_current(fd):
                    return fd
            except OSError as error:
                os.close(fd)
                if error.errno in (errno.EACCES, errno.EAGAIN):
                    raise Locked(self._path) from None
                raise
            os.close(fd)

    def _is_current(self, fd: int) -> bool:
        """False if the last holder removed the file between our opening and locking it."""
        try:
            return os.path.samestat(os.stat(self._path), os.fstat(fd))
        except FileNotFoundError:
            return False


def _is_locked(path: str) -> bool:
    with _held_guard:
        if path in _held:
            return True
        try:
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:  # it is not there, or not for us to read
            return False
        try:
            fcntl.lockf(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError as error:
            return error.errno in (errno.EACCES, errno.EAGAIN)
        finally:
            os.close(fd)
        return False
