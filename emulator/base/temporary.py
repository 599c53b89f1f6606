"""Temporary directories of brokers, removed at the end, or when the next one is made.

- A directory is removed when its broker stops, or when the interpreter ends without that.
- Its owner holds a lock (`flock`) on the directory as long as it lives; however it ends, the system
  unlocks. A process sweeps once, before it makes its first directory in a place: what has our kind
  of name there, belongs to the same user and can be locked has no owner any more, and is removed.
- The lock decides, and no process id: ids are used again, and in another container mean another
  process, while a lock on a shared directory holds in all containers of a machine.
- Whoever removes holds the lock too. A new directory is locked after it was made; if somebody took
  it for one that was left meanwhile, another is made.
- A place whose file system has no such locks (some network file systems) is never swept.

A process that was forked from the owner keeps the lock as long as it lives, and removes nothing.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
import weakref
from pathlib import Path

from .logger import log

PREFIX = "odradek-temporary-"
_NAME = re.compile(re.escape(PREFIX) + "[a-z0-9_]{8}")
_swept: set[str] = set()


class TemporaryDirectory:
    """`with TemporaryDirectory() as path:` a new directory, locked, and removed at the end.

    Raises OSError if it cannot be made.
    """

    def __enter__(self) -> Path:
        place = tempfile.gettempdir()
        if place not in _swept:
            _swept.add(place)
            sweep(place)
        path, lock = _make(place)
        # Removed also when the interpreter ends without a stop.
        self._remove = weakref.finalize(self, _remove, path, lock, os.getpid())
        return path

    def __exit__(self, *_: object) -> None:
        self._remove()


def sweep(place: str) -> None:
    """Remove the directories there that have lost their owners. A failure is no news to a user."""
    try:
        with os.scandir(place) as entries:
            found = [entry for entry in entries if _NAME.fullmatch(entry.name)]
    except OSError as error:
        log.debug("%s is not swept: %s", place, error)
        return
    for entry in found:
        try:
            if entry.stat(follow_symlinks=False).st_uid == os.geteuid():
                _remove_left(entry.path)
        except OSError as error:
            log.debug("%s is left: %s", entry.path, error)


def _remove_left(path: str) -> None:
    lock = _locked(path)
    if lock is not None:
        try:
            shutil.rmtree(path)
        finally:
            os.close(lock)
        log.debug("%s was left by a broker that is gone, and is removed", path)


def _make(place: str) -> tuple[Path, int | None]:
    """A new directory, and a descriptor that holds its lock; None where there are no locks."""
    while True:
        path = tempfile.mkdtemp(prefix=PREFIX, dir=place)
        lock = None
        try:
            lock = _locked(path)
            if lock is not None and os.path.samestat(os.stat(path), os.fstat(lock)):
                return Path(path), lock
        except FileNotFoundError:
            log.debug("%s was taken for one that was left", path)
        except OSError as error:
            log.debug("%s is not locked: %s", path, error)
            return Path(path), None
        if lock is not None:
            os.close(lock)


def _locked(path: str) -> int | None:
    """A descriptor that holds the directory's lock, until it is closed; None if another does."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _remove(path: Path, lock: int | None, process: int) -> None:
    """Remove a directory, in the process that made it and in no fork of it."""
    if os.getpid() == process:
        shutil.rmtree(path, ignore_errors=True)
        if lock is not None:
            os.close(lock)
