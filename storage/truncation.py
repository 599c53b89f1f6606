"""Cutting a log back to an offset: which segments go, and what is left of the last one.

Batches are not divided: one that reaches the offset goes as a whole. What is known of the segment
that is cut is read anew from what is left of it.

Everything here raises OSError. Left out: the log's own offsets, epochs and producers (log.py).
"""

from __future__ import annotations

from collections.abc import Callable

from .index import TransactionIndex
from .recovery import scan
from .segment import Segment, containing


def cut_back(segments: list[Segment], offset: int, notice: Callable[[str], None]) -> list[Segment]:
    """Remove every batch that reaches `offset`, the newest segments first.

    Returns the segments that are left, the last of which takes appends; none if `offset` lies in
    front of them all.
    """
    kept = containing(segments, offset) + 1 if offset >= segments[0].base_offset else 0
    for segment in reversed(segments[kept:]):
        segment.remove()
    if kept:
        _shorten(segments[kept - 1], offset, notice)
    return segments[:kept]


def _shorten(segment: Segment, offset: int, notice: Callable[[str], None]) -> None:
    found = segment.locate(offset)
    size = segment.size if found is None else found[0]
    aborted = segment.transaction_index.overlapping(segment.base_offset, offset)
    segment.offset_index.close()
    segment.time_index.close()
    segment.truncate(size)
    scan(segment, size, strict=False, notice=notice)
    segment.transaction_index = TransactionIndex()
    for entry in aborted:
        if entry.last_offset < segment.next_offset:
            segment.transaction_index.append(entry)
    segment.store_indexes()
