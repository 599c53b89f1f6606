"""The files that a power cut leaves of a real directory, which do not know what was synced.

The logs know it: what is in front of a log's recovery point is on disk. So each batch behind it
counts as one write that no sync has covered, and what is left of these is decided as on a disk in
memory (disk/unsynced.py): whole, torn, as zeros, or not at all.

This loses less than the disk in memory: names and small files stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import TypeAlias

from ..wire import WireError
from .batch_walk import walk_batches
from .disk.directory import Directory, File
from .disk.unsynced import Content
from .log_directory import LogDirectory

RecoveryPoints: TypeAlias = Mapping[str, int]
"""By the directory of each log, the offset below which it is on disk."""


def recovery_points(log_dir: LogDirectory) -> RecoveryPoints:
    """Those of the logs that are open."""
    name = log_dir.naming.directory
    return {name(*key): log.recovery_point for key, log in log_dir.logs.items()}


def lose_tails(path: Path, points: RecoveryPoints, suffix: str, random: Random | None) -> None:
    """Lose what a power cut may lose of the closed logs in a log directory, whose files of batches
    have this suffix; without `random` all that was not synced. Raises OSError."""
    for name, offset in sorted(points.items()):
        directory = Directory(path / name)
        for each in sorted(directory.names()) if directory.exists() else ():
            if not each.endswith(suffix):
                continue
            file = directory.file(each)
            try:
                left = _surviving(file, offset, random)
            finally:
                file.close()
            if left is not None:
                directory.write_atomic(each, left)


def _surviving(file: File, recovery_point: int, random: Random | None) -> bytes | None:
    """The bytes that are left of a segment; None if all are."""
    size = file.size()
    whole = bytes(file.read(0, size)) if size else b""
    content: Content | None = None
    try:
        for position, header, _, _ in walk_batches(file, 0, size):
            if header.last_offset >= recovery_point:
                if content is None:
                    content = Content(0, whole[:position])
                content.write(whole[position : position + header.size], position)
    except WireError:
        return None  # damaged as it is already: a test has written to it
    return None if content is None else bytes(content.surviving(random).data)
