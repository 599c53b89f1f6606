"""Reading a whole segment at the start: its batches are noted anew, its indexes made in memory.

A segment whose flushed part is damaged keeps all its bytes: `damages` then says what is not to be
read. Damage behind the flushed part is reported, to be cut off by the caller.
"""

from __future__ import annotations

from typing import NamedTuple

from ..segment import Segment
from .damage_search import NOWHERE, Inspection
from .producer_replay import find_marker


class Scan(NamedTuple):
    """What a walk through a whole segment found besides its indexes and `segment.damages`."""

    problem: str | None
    """What is wrong at byte `segment.size`, behind which nothing counts; or None."""
    epochs: list[tuple[int, int]]
    """Each rise of the leader epoch, and the offset it came with."""
    has_producers: bool
    has_aborts: bool
    holes: bool
    """Whether offsets are missing as compaction leaves them."""


def scan(
    partition: str,
    segment: Segment,
    end: int,
    *,
    limit: int = NOWHERE,
    flushed_to: int = NOWHERE,
    torn_only: bool = False,
) -> Scan:
    """Note every valid batch of the first `end` bytes.

    `limit`: offsets are below it. Damage that begins below the offset `flushed_to` goes into
    `segment.damages`, and with `torn_only` all that valid batches follow; other damage ends the
    walk. Raises OSError.
    """
    segment.reset()
    epochs: list[tuple[int, int]] = []
    has_producers = has_aborts = False
    walk = Inspection(
        *(partition, segment, end), limit=limit, flushed_to=flushed_to, torn_only=torn_only
    )
    for position, header, chunk, at in walk.batches():
        segment.note(header, position)
        if header.producer_id >= 0:
            has_producers = True
            if header.is_control and not has_aborts:
                marker = find_marker(memoryview(chunk)[at:], header)
                has_aborts = marker is not None and not marker.commit
        if header.leader_epoch > (epochs[-1][0] if epochs else -1):
            epochs.append((header.leader_epoch, header.base_offset))
    segment.damages = walk.damages
    if walk.damages:
        segment.size, segment.next_offset = walk.end, walk.next_offset
    return Scan(walk.problem, epochs, has_producers, has_aborts, walk.holes)
