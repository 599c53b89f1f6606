"""Shared: the new records of a partition, read once for all waits that follow it.

Fifty waits on one topic would decode each of its records fifty times. So what has come is read by
the first that looks, and kept for the others, as each of them gets on at its own pace: the last
100,000 records of a partition and an isolation level. A wait that is further back, as one may be
that begins in the past, reads for itself what is missing here.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ...emulator.base.real_time import perf_counter
from .reading import READ_COMMITTED, read
from .record import Raw
from .source import Source, no_topic

if TYPE_CHECKING:
    from ...emulator.cluster import Cluster
    from ...emulator.partitions.partition import Partition

MOST_KEPT = 100_000


class Shared:
    """Only the broker's thread calls this."""

    def __init__(self, source: Source, cluster: Callable[[], Cluster]) -> None:
        self._source = source
        self._cluster = cluster
        self._tails: dict[tuple[str, int, str], _Tail] = {}
        self.seconds = 0.0
        """The time that reading has taken, since somebody has set it."""

    def since(
        self, topic: str, partition: int | None, start: Mapping[int, int], isolation: str
    ) -> dict[int, tuple[list[Raw], int]]:
        """By partition, the records from an offset on that a reader at this isolation level sees,
        and the offset to go on from. Raises Refused."""
        topics = self._cluster().topics
        if (found := topics.get(topic)) is None:
            raise no_topic(topic, [each.name for each in topics])
        indexes = range(len(found.partitions)) if partition is None else [partition]
        new = {}
        for index in indexes:
            tail = self._tail(topic, found.partitions[index], isolation)
            begin = perf_counter()
            if tail.update(start.get(index, 0)):
                self.seconds += perf_counter() - begin
            new[index] = tail.since(start.get(index, 0))
        return new

    def clear(self) -> None:
        self._tails.clear()

    def _tail(self, topic: str, partition: Partition, isolation: str) -> _Tail:
        key = topic, partition.index, isolation
        tail = self._tails.get(key)
        if tail is None or tail.partition is not partition:  # or it is another one of that name
            tail = self._tails[key] = _Tail(self._source, topic, partition, isolation)
        return tail


class _Tail:
    """The last records of a partition, as readers at an isolation level see them."""

    def __init__(self, source: Source, topic: str, partition: Partition, isolation: str) -> None:
        self.partition = partition
        self._source = source
        self._topic = topic
        self._isolation = isolation
        self._records: list[Raw] = []
        self._begin = self._end = -1

    def update(self, offset: int) -> bool:
        """Read what is new; the first time from this offset on. Returns whether there was
        anything."""
        end = self._end_now()
        if self._end < 0:
            self._begin = self._end = offset
        if self._end >= end:
            return False
        new, self._end = self._read(self._end)
        self._records += new
        if len(self._records) > MOST_KEPT:
            del self._records[:-MOST_KEPT]
            self._begin = self._records[0].offset
        return True

    def since(self, offset: int) -> tuple[list[Raw], int]:
        """The records from an offset on, and the offset to go on from."""
        if offset < self._begin:
            return self._read(offset)
        first = bisect_left(self._records, offset, key=lambda record: record.offset)
        return self._records[first:], max(self._end, offset)

    def _read(self, offset: int) -> tuple[list[Raw], int]:
        index = self.partition.index
        found = read(self._source, self._topic, [index], {index: offset})[index]
        return found.visible(self._isolation), max(found.end(self._isolation), offset)

    def _end_now(self) -> int:
        partition = self.partition
        if not partition.is_log_open:
            return 0
        is_committed = self._isolation == READ_COMMITTED
        return partition.last_stable_offset if is_committed else partition.high_watermark
