"""Reading a whole segment when its directory is opened: its batches, and indexes built in memory.

A segment whose flushed part is damaged keeps all its bytes: `damages` then says what must not be
read. Damage after the flushed part is reported, so that the caller truncates it.
"""

from __future__ import annotations

from typing import NamedTuple

from ..segment import Segment
from .damage_search import NO_LIMIT, DamageSearch
from .producer_replay import find_marker


class Scan(NamedTuple):
    """The results of reading a whole segment, besides its indexes and `segment.damages`."""

    problem: str | None
    """The problem at byte `segment.size`, where the valid batches end; or None."""
    epochs: list[tuple[int, int]]
    """Each new leader epoch, and the base offset of its first batch."""
    has_producers: bool
    has_aborts: bool
    has_gaps: bool
    """Whether offsets are missing, as after compaction."""


def scan_segment(
    partition: str,
    segment: Segment,
    end: int,
    *,
    limit: int = NO_LIMIT,
    flushed_to: int = NO_LIMIT,
    torn_only: bool = False,
) -> Scan:
    """Add every valid batch of the first `end` bytes to the segment.

    `limit`: all offsets are below it. Damage that begins below the offset `flushed_to` is added to
    `segment.damages`, and with `torn_only` all damage that valid batches follow; other damage ends
    the scan. Raises OSError.
    """
    segment.reset()
    epochs: list[tuple[int, int]] = []
    has_producers = has_aborts = False
    search = DamageSearch(
        *(partition, segment, end), limit=limit, flushed_to=flushed_to, torn_only=torn_only
    )
    for position, header, chunk, at in search.batches():
        segment.add_batch(header, position)
        if header.producer_id >= 0:
            has_producers = True
            if header.is_control and not has_aborts:
                marker = find_marker(memoryview(chunk)[at:], header)
                has_aborts = marker is not None and not marker.commit
        if header.leader_epoch > (epochs[-1][0] if epochs else -1):
            epochs.append((header.leader_epoch, header.base_offset))
    segment.damages = search.damages
    if search.damages:
        segment.size, segment.next_offset = search.end, search.next_offset
    return Scan(search.problem, epochs, has_producers, has_aborts, search.has_gaps)
