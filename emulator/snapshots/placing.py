"""Putting an image in the place of what a broker has on disk.

Rules:

- Nothing may have the directory open; it is locked meanwhile.
- A process that is killed in between leaves nothing that the next start trips over: the image is
  first made whole beside the old files, in one directory that gets its name last, and then put in
  their place. A start that finds that directory goes on from there (`finish`). In a temporary
  directory, which nobody opens again, that is left out.
- What is the same in both stays where it is, so to put back what has hardly changed is quick.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from ...storage import Directory, LogDirectoryError, MemoryDisk
from ...storage.checkpoints import LOCK
from ...storage.disk.directory import Locked
from ...storage.disk.mirror import mirror
from .images import Image

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
