"""Truncating the segments of a log to an offset.

Batches are not divided: one that contains the offset is removed whole. The last segment left is
read again, to know its batches and to rebuild its indexes.

Everything here raises OSError. Left out: the log's own offsets, epochs and producers (log.py).
"""

from __future__ import annotations

from .damage import valid_run_at
from .index import TransactionIndex
from .partition_directory import PartitionDirectory
from .recovery.segment_scan import scan_segment
from .segment import Segment, containing


def truncate_segments(
    segments: list[Segment], offset: int, home: PartitionDirectory
) -> list[Segment]:
    """Remove every batch that contains `offset` or comes after it, the newest segments first.

    Returns the segments that are left, the last of which takes appends; none if `offset` is before
    all of them.
    """
    kept = containing(segments, offset) + 1 if offset >= segments[0].base_offset else 0
    for segment in reversed(segments[kept:]):
        segment.remove()
    # Else removed segments may come back after a crash, beyond a gap.
    if segments[kept:] and segments[kept].on_disk:
        segments[kept].sync_names()
    if kept:
        last = segments[kept - 1]
        _truncate_segment(last, offset, home.name)
        return [*segments[:kept], *home.successor_of(last)]
    return []


def _truncate_segment(segment: Segment, offset: int, partition: str) -> None:
    size = _position_of(segment, offset)
    aborted = segment.transaction_index.overlapping(segment.base_offset, offset)
    segment.offset_index.close()
    segment.time_index.close()
    segment.truncate(size)
    scan_segment(partition, segment, size)
    segment.transaction_index = TransactionIndex()
    for entry in aborted:
        if entry.last_offset < segment.next_offset:
            segment.transaction_index.append(entry)
    segment.store_indexes()


def _position_of(segment: Segment, offset: int) -> int:
    """Where the first batch to be removed begins, or the damage in its place."""
    segment.verify()
    for damage in segment.damages:
        if damage.first_offset <= offset < damage.next_offset:
            return damage.position
    found = segment.locate(offset)
    return valid_run_at(segment.damages, offset, segment.size).end if found is None else found[0]
