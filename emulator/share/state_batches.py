"""Batches of a share partition's stored state, and how newer ones are laid over older ones.

A batch says of a range of offsets in which state the records are, and how often they were
delivered. Where two overlap, the one that was delivered more often wins, then the one of the higher
state; what is left of the other stays. Neighbours that say the same become one.
Source: Kafka 4.3.1's answers (PersisterStateBatchCombiner).
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heapify, heappop, heappush
from typing import NamedTuple

NO_OFFSET = -1


class StateBatch(NamedTuple):
    """A range of offsets. Batches are sorted as tuples: by offsets, delivery count and state."""

    first_offset: int
    last_offset: int
    delivery_count: int
    delivery_state: int

    @property
    def weight(self) -> tuple[int, int]:
        """What decides where batches overlap."""
        return self.delivery_count, self.delivery_state

    def cut(self, first_offset: int, last_offset: int) -> StateBatch:
        """The same of other offsets."""
        return self._replace(first_offset=first_offset, last_offset=last_offset)


def combined(
    before: Iterable[StateBatch], newer: Iterable[StateBatch], start_offset: int
) -> list[StateBatch]:
    """The batches of both, without overlaps, in order, and without what is below the start offset
    (NO_OFFSET: nothing is)."""
    batches = [*before, *newer]
    if start_offset != NO_OFFSET:
        batches = [
            batch.cut(max(batch.first_offset, start_offset), batch.last_offset)
            for batch in batches
            if batch.last_offset >= start_offset
        ]
    if len(batches) < 2:
        return batches
    heap = batches
    heapify(heap)
    done: list[StateBatch] = []
    while heap:
        low = heappop(heap)
        if not heap or not _touch(low, heap[0]):
            done.append(low)
            continue
        for part in _merged(low, heappop(heap)):
            heappush(heap, part)
    return done


def _touch(low: StateBatch, high: StateBatch) -> bool:
    if high.first_offset <= low.last_offset:
        return True
    return high.first_offset == low.last_offset + 1 and high.weight == low.weight


def _merged(low: StateBatch, high: StateBatch) -> list[StateBatch]:
    """Two batches that overlap or touch, of which `low` is sorted before `high`."""
    if low.weight == high.weight:
        return [low.cut(low.first_offset, max(low.last_offset, high.last_offset))]
    rest = high.cut(low.last_offset + 1, high.last_offset)
    if low.first_offset == high.first_offset:
        # With the same offsets, `high` is sorted behind `low` because it weighs more.
        if high.last_offset == low.last_offset or high.weight > low.weight:
            return [high]
        return [low, rest]
    head = low.cut(low.first_offset, high.first_offset - 1)
    if high.weight < low.weight:
        return [low, rest] if high.last_offset > low.last_offset else [low]
    if high.last_offset < low.last_offset:
        return [head, high, low.cut(high.last_offset + 1, low.last_offset)]
    return [head, high]
