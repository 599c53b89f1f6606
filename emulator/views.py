"""Views for tests: a topic, its partitions, and the records in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..wire.legacy.as_batches import read_logged
from ..wire.records import Record

if TYPE_CHECKING:
    from .cluster import Cluster
    from .emulator import Emulator
    from .partitions.partition import Partition


class PartitionView:
    """One partition; every call reads it as it is now."""

    def __init__(self, emulator: Emulator, topic: str, index: int) -> None:
        self._emulator = emulator
        self._topic = topic
        self.index = index

    def __repr__(self) -> str:
        return f"<{self._topic}-{self.index}>"

    @property
    def log_start_offset(self) -> int:
        """The first offset that can be read."""
        return self._emulator.run(lambda cluster: self._partition(cluster).log_start_offset)

    @property
    def log_end_offset(self) -> int:
        """The offset the next record will get."""
        return self._emulator.run(lambda cluster: self._partition(cluster).log_end_offset)

    def records(self) -> list[Record]:
        """Every stored record, in order, without the markers of transactions."""
        return self._emulator.run(lambda cluster: stored_records(self._partition(cluster)))

    def values(self) -> list[bytes | None]:
        """The values of all records, in order."""
        return [record.value for record in self.records()]

    def keys(self) -> list[bytes | None]:
        """The keys of all records, in order."""
        return [record.key for record in self.records()]

    def _partition(self, cluster: Cluster) -> Partition:
        return cluster.partition(self._topic, self.index)


class TopicView:
    """A topic: `topic[0]` is a partition, `len(topic)` their number."""

    def __init__(self, emulator: Emulator, name: str) -> None:
        self._emulator = emulator
        self.name = name

    def __repr__(self) -> str:
        return f"<topic {self.name}>"

    def __len__(self) -> int:
        return self._emulator.run(lambda cluster: len(cluster.topic(self.name).partitions))

    def __iter__(self) -> Iterator[PartitionView]:
        return (PartitionView(self._emulator, self.name, index) for index in range(len(self)))

    def __getitem__(self, index: int) -> PartitionView:
        if not 0 <= index < len(self):
            raise IndexError(f"topic {self.name} has no partition {index}")
        return PartitionView(self._emulator, self.name, index)

    def records(self) -> list[Record]:
        """The records of all partitions, one partition after another."""
        return [record for partition in self for record in partition.records()]

    def values(self) -> list[bytes | None]:
        """The values of all records, one partition after another."""
        return [record.value for record in self.records()]


def stored_records(partition: Partition) -> list[Record]:
    """Read a partition from its start to its end. Raises WireError for what cannot be read."""
    log = partition.log
    start = log.log_start_offset
    return [
        record
        for header, chunk, pos in log.reader.batches_from(start, over_damage=False)
        if not header.is_control
        for record in read_logged(chunk, pos)
        if record.offset >= start
    ]
