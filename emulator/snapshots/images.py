"""Images: the files of a broker as a clean stop would leave them, in a folder or in memory.

A folder's image shares files with the broker that it was taken of, and with those it is put back
to (storage/disk/mirror.py). It is in a temporary directory, which is removed with the image, at the
end of the process, or, if that was killed, by the next one (base/temporary.py).

Putting an image in the place of what a broker has on disk.

Rules:

- Nothing may have the directory open; it is locked meanwhile.
- A process that is killed in between leaves nothing that the next start trips over: the image is
  first made whole beside the old files, in one directory that gets its name last, and then put in
  their place. A start that finds that directory goes on from there (`finish`). In a temporary
  directory, which nobody opens again, that is left out.
- What is the same in both stays where it is, so to put back what has hardly changed is quick.

What may not go back when a state is restored, because clients that live on compare it.

- Leader epochs: a client takes no metadata of an older epoch than it knows, and a fetch with a
  newer one than the broker has is refused for ever.
- Producer ids: one that was given to a producer since would be given to another.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ...storage import Directory, LogDirectory, LogDirectoryError, MemoryDisk
from ...storage.checkpoints import LOCK
from ...storage.disk.directory import Locked
from ...storage.disk.mirror import link_image, mirror
from ...storage.image import Files, image_of, learned
from ...storage.recovery.known import Known
from ...wire.stored.cluster import MetadataRecord, PartitionChangeRecord, ProducerIdsRecord
from ..base.temporary import TemporaryDirectory
from ..partitions.partition import NO_LEADER

if TYPE_CHECKING:
    from ..metadata.image import MetadataImage
    from ..metadata.log import MetadataLog


class Entry(NamedTuple):
    """One file of an image. `path` is relative, with "/"."""

    path: str
    size: int
    modified_ms: int


class Image(Protocol):
    """The files of a broker at one moment. They never change."""

    def entries(self) -> Iterator[Entry]: ...

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
        """State that need not be read again when it is opened in this process."""

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


_NEW = ".odradek-restore"
_UNFINISHED = ".odradek-restore.tmp"


def place_in(image: Image | None, path: Path, *, is_temporary: bool) -> None:
    """Make a directory have the files of the image, or none, and nothing else. Raises OSError,
    LogDirectoryError."""
    if is_temporary:
        mirror(None if image is None else os.fspath(image.folder()), os.fspath(path), keep=(LOCK,))
        return
    new = path / _UNFINISHED
    new.mkdir()
    try:
        if image is not None:
            mirror(os.fspath(image.folder()), os.fspath(new))
        new.rename(path / _NEW)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    finish(path)


def place_on(image: Image | None, disk: MemoryDisk) -> None:
    """The same for a disk in memory."""
    entries = () if image is None else image.entries()
    disk.replace(
        {each.path: (image.read(each.path), each.modified_ms) for each in entries if image}
    )


def finish(path: Path) -> None:
    """Go on where a process was killed, if there is such a place. Raises OSError,
    LogDirectoryError."""
    with suppress(FileNotFoundError):
        shutil.rmtree(path / _UNFINISHED)
    if (path / _NEW).exists():
        try:
            lock = Directory(path).lock(LOCK)
        except Locked:
            raise LogDirectoryError(f"{path} is in use by another broker") from None
        try:
            _replace(path / _NEW, path)
        finally:
            lock.release(remove=False)


def _replace(new: Path, path: Path) -> None:
    mirror(os.fspath(new), os.fspath(path), keep=(LOCK, new.name))
    done = new.rename(path / _UNFINISHED)  # half of it must not be put in place again
    shutil.rmtree(done)


def is_empty(path: Path) -> bool:
    """Whether nothing is there that a broker would find."""
    return not path.exists() or not set(os.listdir(path)) - {LOCK, _UNFINISHED}


def stay_ahead(restored: MetadataLog, before: MetadataImage, node_id: int) -> None:
    """Go on from what there was before. Raises Refused (KAFKA_STORAGE_ERROR)."""
    records: list[MetadataRecord] = []
    for topic in restored.image.topics.values():
        known = before.topics.get(topic.topic_id)
        for index, partition in topic.partitions.items():
            if known is None or index not in known.partitions or partition.leader == NO_LEADER:
                continue
            behind = known.partitions[index].leader_epoch - partition.leader_epoch
            change = PartitionChangeRecord(
                partition_id=index, topic_id=topic.topic_id, leader=partition.leader
            )
            records += [change] * max(0, behind)
    if before.next_producer_id > restored.image.next_producer_id:
        records.append(
            ProducerIdsRecord(broker_id=node_id, next_producer_id=before.next_producer_id)
        )
    if records:
        restored.append(records)
