"""Cutting a log back to an offset: which segments go, and what is left of the last one.

Batches are not divided: one that reaches the offset goes as a whole. What is known of the segment
that is cut is read anew from what is left of it.

Everything here raises OSError. Left out: the log's own offsets, epochs and producers (log.py).
"""

from __future__ import annotations

from .damage import around
from .index import TransactionIndex
from .partition_directory import PartitionDirectory
from .recovery.segment_scan import scan
from .segment import Segment, containing


def cut_back(segments: list[Segment], offset: int, home: PartitionDirectory) -> list[Segment]:
    """Remove every batch that reaches `offset`, the newest segments first.

    Returns the segments that are left, the last of which takes appends; none if `offset` lies in
    front of them all.
    """
    kept = containing(segments, offset) + 1 if offset >= segments[0].base_offset else 0
    for segment in reversed(segments[kept:]):
        segment.remove()
    if segments[kept:] and segments[kept].on_disk:  # lest they come back behind a gap
        segments[kept].sync_names()
    if kept:
        last = segments[kept - 1]
        _shorten(last, offset, home.name)
        return [*segments[:kept], *home.continued(last)]
    return []


def _shorten(segment: Segment, offset: int, partition: str) -> None:
    size = _place(segment, offset)
    aborted = segment.transaction_index.overlapping(segment.base_offset, offset)
    segment.offset_index.close()
    segment.time_index.close()
    segment.truncate(size)
    scan(partition, segment, size)
    segment.transaction_index = TransactionIndex()
    for entry in aborted:
        if entry.last_offset < segment.next_offset:
            segment.transaction_index.append(entry)
    segment.store_indexes()


def _place(segment: Segment, offset: int) -> int:
    """Where the first batch that reaches `offset` begins, or the damage that took it."""
    segment.verify()
    for damage in segment.damages:
        if damage.first_offset <= offset < damage.next_offset:
            return damage.position
    found = segment.locate(offset)
    return around(segment.damages, offset, segment.size).end if found is None else found[0]
