"""Images: the files of a broker as a clean stop would leave them, in a folder or in memory.

A folder's image shares files with the broker that it was taken of, and with those it is put back
to (storage/disk/mirror.py). It is in a temporary directory, which is removed with the image, at the
end of the process, or, if that was killed, by the next one (base/temporary.py).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from ...storage import Directory, LogDirectory, MemoryDisk
from ...storage.disk.mirror import link_image
from ...storage.image import Files, image_of, learned
from ...storage.recovery.known import Known
from ..base.temporary import TemporaryDirectory


class Entry(NamedTuple):
    """One file of an image. `path` is relative, with "/"."""

    path: str
    size: int
    modified_ms: int


class Image(Protocol):
    """The files of a broker at one moment. They never change."""

    def entries(self) -> Iterator[Entry]:
        """Its files."""
        ...

    def read(self, path: str) -> bytes:
        """The bytes of one."""
        ...

    def folder(self) -> Path:
        """A folder that has them, to be linked and not to be written to."""
        ...

    def close(self) -> None:
        """Give up what it takes. Harmless when done again."""
        ...


class FolderImage:
    """An image in a temporary directory, which has to be filled."""

    def __init__(self) -> None:
        self._home = TemporaryDirectory()
        self._path = self._home.__enter__()
        self.known: list[Known] = []
        """What needs not be read again when it is opened in this process."""

    def entries(self) -> Iterator[Entry]:
        for above, _, names in os.walk(self._path):
            for name in sorted(names):
                path = Path(above, name)
                status = path.stat()
                relative = path.relative_to(self._path).as_posix()
                yield Entry(relative, status.st_size, status.st_mtime_ns // 1_000_000)

    def read(self, path: str) -> bytes:
        return (self._path / path).read_bytes()

    def folder(self) -> Path:
        return self._path

    def close(self) -> None:
        self.known = []
        self._home.__exit__(None, None, None)


class MemoryImage:
    """An image of a disk in memory."""

    def __init__(self, contents: dict[str, tuple[bytes, int]]) -> None:
        self._contents = contents
        self._folder: FolderImage | None = None

    def entries(self) -> Iterator[Entry]:
        for path, (data, modified_ms) in self._contents.items():
            yield Entry(path, len(data), modified_ms)

    def read(self, path: str) -> bytes:
        return self._contents[path][0]

    def folder(self) -> Path:
        if self._folder is None:
            self._folder = FolderImage()
            for entry in self.entries():
                write_file(self._folder.folder(), entry, self.read(entry.path))
        return self._folder.folder()

    def close(self) -> None:
        self._contents = {}
        if self._folder is not None:
            self._folder.close()


def write_file(folder: Path, entry: Entry, data: bytes) -> None:
    """Write a file of an image into a folder, with its date. Raises OSError."""
    path = folder / entry.path
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    date = entry.modified_ms * 1_000_000
    os.utime(path, ns=(date, date))


def take(log_dir: LogDirectory, disk: MemoryDisk | None) -> Image:
    """An image as of now, in the broker's thread. Raises Refused (KAFKA_STORAGE_ERROR), OSError."""
    files = image_of(log_dir)
    if disk is not None:
        return MemoryImage(_contents(log_dir.directory, files, disk))
    image = FolderImage()
    try:
        link_image(log_dir.path, files, os.fspath(image.folder()))
        image.known = learned(log_dir)
    except BaseException:
        image.close()
        raise
    return image


def _contents(directory: Directory, files: Files, disk: MemoryDisk) -> dict[str, tuple[bytes, int]]:
    """Of a disk in memory nothing is shared: its files may be written to in place."""
    there, now = disk.contents(), directory.modified_ms("meta.properties")
    contents = {}
    for above, names in files.items():
        for name, data in names.items():
            path = f"{above}/{name}" if above else name
            contents[path] = there[path] if data is None else (data, now)
    return contents
