"""Verbs on records, whether of a topic, of one partition, or decoded."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Generic, Protocol, TypeVar

from .reading import READ_COMMITTED
from .record import SeenRecord

K = TypeVar("K")
V = TypeVar("V")


class Read(Protocol[K, V]):
    """Reads records at an isolation level, from an offset or a time on, or from the start."""

    def __call__(
        self, isolation: str, start: int | datetime | None = None, /
    ) -> list[SeenRecord[K, V]]: ...


class Records(Generic[K, V]):
    """The records of a topic or a partition; every call reads them as they are now.

    `isolation` is "read_committed", which leaves out what belongs to an aborted or open
    transaction, and what comes after an open one, or "read_uncommitted" for all. Methods raise
    Refused for a topic that does not exist any more, ValueError for another isolation.
    """

    def __init__(self, name: str, read: Read[K, V]) -> None:
        self.name = name
        self._read = read

    def __repr__(self) -> str:
        return f"<{self.name}>"

    def records(self, isolation: str = READ_COMMITTED) -> list[SeenRecord[K, V]]:
        """All records, in order, one partition after another."""
        return self._read(isolation)

    def values(self, isolation: str = READ_COMMITTED) -> list[V]:
        """The values of all records, in the same order."""
        return [record.value for record in self._read(isolation)]

    def keys(self, isolation: str = READ_COMMITTED) -> list[K]:
        """The keys of all records, in the same order."""
        return [record.key for record in self._read(isolation)]

    def last(self, isolation: str = READ_COMMITTED) -> SeenRecord[K, V]:
        """The newest record: of several partitions the one with the largest timestamp. Raises
        LookupError if there is none."""
        newest: dict[int, SeenRecord[K, V]] = {}
        for record in self._read(isolation):
            newest[record.partition] = record
        if not newest:
            raise LookupError(f"{self.name} has no records for a {isolation} reader")
        return max(newest.values(), key=lambda record: record.timestamp)

    def since(
        self, start: int | datetime, isolation: str = READ_COMMITTED
    ) -> list[SeenRecord[K, V]]:
        """The records from an offset on (an int, in each partition), or from the first one on that
        is as late as a time (a datetime; one without a zone is local time)."""
        return self._read(isolation, start)

    def by_key(self, isolation: str = READ_COMMITTED) -> dict[K, V]:
        """The last value of each key, as a table has it: keys whose last record is a tombstone are
        left out, and so are records without a key."""
        table = last_values(self._read(isolation))
        return {key: value for key, value in table.items() if value is not None}


def last_values(records: Iterable[SeenRecord[K, V]]) -> dict[K, V]:
    """The last value of each key, tombstones too."""
    return {record.key: record.value for record in records if record.key is not None}
