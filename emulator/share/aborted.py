"""Records of aborted transactions: readers of committed data do not acquire them.

They are archived, and their markers are acquired like records (semantics N14).
Source: Kafka 4.3.1's answers (SharePartition).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...wire.batch import BatchHeader
from .acquiring import Acquired
from .in_flight import RecordState
from .share_partition import SharePartition, archive


class Aborted(NamedTuple):
    """An aborted transaction: its producer, and where it begins in the partition."""

    first_offset: int
    producer_id: int


def without_aborted(
    share: SharePartition,
    acquired: Sequence[Acquired],
    read: Sequence[BatchHeader],
    transactions: Sequence[Aborted],
    aborts: frozenset[int],
) -> list[Acquired]:
    """Archive what was acquired of these transactions. Returns the rest. `aborts`: the base offsets
    of the batches that are markers of an abort."""
    batches = _aborted_batches(read, transactions, aborts)
    for header in batches:
        floor = share.batches.floor(header.base_offset)
        first = header.base_offset if floor is None else floor.first
        known = share.batches.between(first, header.last_offset)
        end = header.last_offset + 1
        archive(share, header.base_offset, end, known, RecordState.ACQUIRED, counts=True)
    rest = list(acquired)
    for header in batches:
        rest = [part for each in rest for part in _outside(each, header)]
    return rest


def _aborted_batches(
    read: Sequence[BatchHeader], transactions: Sequence[Aborted], aborts: frozenset[int]
) -> list[BatchHeader]:
    to_come = sorted(transactions, reverse=True)
    producers: set[int] = set()
    found = []
    for header in read:
        if header.producer_id < 0:
            continue
        while to_come and to_come[-1].first_offset <= header.last_offset:
            producers.add(to_come.pop().producer_id)
        if header.base_offset in aborts:
            producers.discard(header.producer_id)
        elif header.is_transactional and header.producer_id in producers:
            found.append(header)
    return found


def _outside(range_: Acquired, header: BatchHeader) -> list[Acquired]:
    """What of a range is not in a batch."""
    low = range_._replace(last_offset=min(range_.last_offset, header.base_offset - 1))
    high = range_._replace(first_offset=max(range_.first_offset, header.last_offset + 1))
    return [part for part in (low, high) if part.size > 0]
