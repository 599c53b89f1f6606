"""Topics of any Kafka as a place: each partition is cut into ranges of offsets.

Up to the last stable offset a broker tells which transactions were aborted, so records are fetched
as by a read_committed consumer as far as that goes, also where all of them are wanted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ....wire.api.describe_log_dirs import DescribeLogDirsRequest
from ..segments.decoder import read_bytes
from ..segments.outcomes import fetched_outcomes
from ..segments.wanted import Wanted
from .broker import EARLIEST, LATEST, BrokerError, Cluster, fetch, find_topics, offsets
from .broker import Place as Partition
from .splits import Offsets, narrowed

SPLIT_BYTES = 32 << 20
SPLIT_ROWS_MIN = 10_000
ROW_BYTES = 200
"""About what a record has, where a broker does not tell how large its logs are."""


@dataclass(frozen=True)
class TopicSplit:
    addresses: str
    topic: str
    partition: int
    start: int
    end: int
    """The offset after the last one."""
    stable: int
    """The last stable offset, when the split was made."""
    size: int

    @property
    def name(self) -> str:
        return f"{self.topic}-{self.partition}, offsets {self.start} to {self.end}"

    def read(self, wanted: Wanted) -> Iterator[pa.RecordBatch]:
        asked = narrowed(wanted, self.start, self.end)
        start, end = asked.start_offset or 0, asked.end_offset or 0
        stable = min(max(self.stable, start), end)
        place = (self.topic, self.partition)
        with Cluster(self.addresses) as cluster:
            # A batch may be in both parts: each gives its own offsets.
            for fetched in fetch(cluster, place, start, stable, committed=True):
                outcomes = fetched_outcomes(fetched.records, fetched.aborted)
                within = narrowed(asked, None, stable)
                yield from read_bytes(fetched.records, *place, within, outcomes)
            if not wanted.is_committed_only:
                for fetched in fetch(cluster, place, stable, end, committed=False):
                    yield from read_bytes(fetched.records, *place, narrowed(asked, stable, None))


@dataclass(frozen=True)
class Topics:
    text: str
    addresses: str
    topic: str | None = None
    """A name or pattern; None for all but the internal ones."""

    def splits(
        self, wanted: Wanted, offsets: Offsets | None = None, run: Any = None
    ) -> list[TopicSplit]:
        """Ranges of offsets, in order. Raises BrokerError."""
        asked = offsets or Offsets()
        with Cluster(self.addresses) as cluster:
            places = self.places(cluster)
            asked.check(places, self.text)
            bounds = _bounds(cluster, places, wanted)
            sizes = partition_sizes(cluster, places)
        return [
            split
            for place in places
            for split in self._ranges(place, bounds[place], sizes, wanted, asked)
        ]

    def partitions(self) -> list[Partition]:
        """Topic and number of each partition."""
        with Cluster(self.addresses) as cluster:
            return self.places(cluster)

    def places(self, cluster: Cluster) -> list[Partition]:
        """The same, over connections that are open."""
        found = find_topics(cluster, [self.topic or "*"])
        return [place for topic in found for place in topic.places]

    def _ranges(
        self,
        place: Partition,
        bounds: _Bounds,
        sizes: Mapping[Partition, int],
        wanted: Wanted,
        asked: Offsets,
    ) -> Iterator[TopicSplit]:
        after = bounds.stable if wanted.is_committed_only else bounds.after
        start, end = asked.of(*place, bounds.first, after)
        within = narrowed(wanted, max(start, bounds.since), end)
        start, end = within.start_offset or 0, within.end_offset or 0
        rows = max(bounds.after - bounds.first, 1)
        row_bytes = max(sizes.get(place, rows * ROW_BYTES) / rows, 1)
        step = max(int(SPLIT_BYTES / row_bytes), SPLIT_ROWS_MIN)
        for at in range(start, end, step):
            until = min(at + step, end)
            size = int((until - at) * row_bytes)
            yield TopicSplit(self.addresses, *place, at, until, bounds.stable, size)


@dataclass(frozen=True)
class _Bounds:
    first: int
    since: int
    """No record before this offset is of the wanted time."""
    stable: int
    after: int


def _bounds(
    cluster: Cluster, places: Iterable[Partition], wanted: Wanted
) -> dict[Partition, _Bounds]:
    listed = list(places)
    first = offsets(cluster, listed, EARLIEST)
    stable = offsets(cluster, listed, LATEST, committed=True)
    after = offsets(cluster, listed, LATEST)
    since = first
    if wanted.start_ms is not None:
        found = offsets(cluster, listed, max(wanted.start_ms, 0))
        since = {place: at if at >= 0 else after[place] for place, at in found.items()}
    return {each: _Bounds(first[each], since[each], stable[each], after[each]) for each in listed}


def partition_sizes(cluster: Cluster, places: Iterable[Partition]) -> dict[Partition, int]:
    """How many bytes partitions have; without those of which the brokers do not tell it."""
    wanted = set(places)
    found: dict[Partition, int] = {}
    for node in cluster.brokers.nodes:
        try:
            answer = cluster.brokers.ask(DescribeLogDirsRequest(topics=None), node=node)
        except BrokerError:  # old, or does not allow it
            continue
        for directory in answer.results:
            for topic in directory.topics:
                for part in topic.partitions:
                    place = (topic.name, part.partition_index)
                    if place in wanted:
                        found[place] = max(found.get(place, 0), part.partition_size)
    return found
