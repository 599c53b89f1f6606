"""Offsets that a log must have: one that was never compacted keeps them all.

What a repair has recorded as lost is not missed. Nor is anything where batches have holes within
them, as only compaction and records with kept offsets make.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from ....storage.checkpoints import RECOVERY_POINTS, CheckpointError, read_offsets
from ....storage.damage import after_gaps, repaired_gaps
from ....storage.disk.directory import Directory
from ....storage.naming import DAMAGED, NAMINGS
from .listing import Segment


@dataclass(frozen=True)
class RequiredOffsets:
    """The offsets that one segment must have. Can be sent to another process."""

    end: int | None = None
    """The offset up to which it reaches at least."""
    repaired: tuple[tuple[int, int], ...] = ()
    """Lost offsets that repairs have recorded."""

    def missing(self, first: int, after: int) -> tuple[int, int] | None:
        first = after_gaps(list(self.repaired), first)
        return (first, after) if first < after else None


class KeptOffsets:
    def __init__(self, path: str) -> None:
        # Here, because tasks import this module too, and need no broker.
        from ....emulator.metadata.topic_repair import KnownTopics

        self._path = path
        self._topics = KnownTopics(path)
        self._repaired: dict[str, tuple[tuple[int, int], ...]] = {}

    def of(self, segment: Segment) -> RequiredOffsets | None:
        """The offsets that a segment must have; None if it may have been compacted."""
        if not self._topics.never_compacted(segment.topic):
            return None
        end = segment.next_base
        if end is None:
            end = recovery_points(self._path).get((segment.topic, segment.partition))
        home = segment.directory
        if home not in self._repaired:
            directory = Directory(home)
            names = [name for name in directory.names() if name.endswith(DAMAGED)]
            self._repaired[home] = tuple(repaired_gaps(directory, names))
        return RequiredOffsets(end, self._repaired[home])


def data_directory_of(path: str) -> str:
    """The data directory that a path is, or is part of."""
    path = os.path.abspath(path)
    if os.path.isfile(path):
        path = os.path.dirname(path)
    name = os.path.basename(path)
    is_partition = any(each.parse_directory(name) is not None for each in NAMINGS.values())
    return os.path.dirname(path) if is_partition else path


@lru_cache(maxsize=1)
def _read_points(path: str, version: int) -> Mapping[tuple[str, int], int]:
    with open(os.path.join(path, RECOVERY_POINTS), "rb") as file:
        return read_offsets(file.read(), RECOVERY_POINTS)


def recovery_points(path: str) -> Mapping[tuple[str, int], int]:
    """The offset of each partition below which all was on disk; nothing if that is not known."""
    try:
        return _read_points(path, os.stat(os.path.join(path, RECOVERY_POINTS)).st_mtime_ns)
    except (FileNotFoundError, CheckpointError):
        return {}


def past_end(start: int, end: int) -> str:
    """The message about a partition whose log start is past its end."""
    return f"log start {start} is past the log's end {end}"


def lost_partitions(path: str) -> list[tuple[str, int, int]]:
    """Partitions that have no directory any more: topic, number, and the end of their offsets."""
    names = set(os.listdir(path)) if os.path.isdir(path) else set()
    return [
        (*key, end)
        for key, end in sorted(recovery_points(path).items())
        if end > 0 and not any(naming.directory(*key) in names for naming in NAMINGS.values())
    ]
