"""Where the valid batches of a damaged segment are, as a broker's recovery finds them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from errno import EIO

from ....storage.damage import Damage
from ....storage.recovery.damage_search import NO_LIMIT, DamageSearch
from .listing import Segment


class _File:
    """A segment's file, read without being changed."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._fd = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))

    def read(self, position: int, size: int) -> bytes:
        """Exactly these bytes. Raises OSError."""
        os.lseek(self._fd, position, os.SEEK_SET)
        data = os.read(self._fd, size)
        while len(data) < size and (more := os.read(self._fd, size - len(data))):
            data += more
        if len(data) < size:
            raise OSError(EIO, f"ends before byte {position + size}", self.path)
        return data

    def close(self) -> None:
        os.close(self._fd)


class _Searched:
    def __init__(self, segment: Segment) -> None:
        self.name = segment.name
        self.base_offset = segment.base_offset
        self.file = _File(segment.path)


def damages(segment: Segment) -> list[Damage]:
    """All damage in a segment, in order, each up to the next valid batch. Raises OSError."""
    searched = _Searched(segment)
    try:
        limit = NO_LIMIT if segment.next_base is None else segment.next_base
        partition = os.path.basename(segment.directory)
        search = DamageSearch(partition, searched, segment.size, limit=limit)
        for _ in search.batches():
            pass
        return search.damages
    finally:
        searched.file.close()


def valid_ranges(segment: Segment) -> Iterator[tuple[int, int]]:
    """Start and end of each run of valid batches. Raises OSError."""
    start = 0
    for damage in damages(segment):
        if damage.position > start:
            yield start, damage.position
        start = damage.end
    if start < segment.size:
        yield start, segment.size
