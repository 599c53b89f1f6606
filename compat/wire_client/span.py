"""Some partitions of a topic, of which a view asks: all of them, or one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeVar

from ...emulator.base.words import number_of
from ...wire.api.delete_records import DeleteRecordsRequest
from ...wire.api.describe_log_dirs import DescribeLogDirsRequest
from .decoding import Auto, Decoder, decoded, function_of
from .produced import to_ms
from .reading import (
    LATEST,
    READ_COMMITTED,
    READ_UNCOMMITTED,
    PartitionRecords,
    offsets_at,
    read,
)
from .record import Raw, SeenRecord
from .source import Source, check
from .transactions import SeenProducer, producers_of
from .verbs import Records
from .waiting import Wait

T = TypeVar("T")
_DELETE_RECORDS = _LOG_DIRS = 2  # versions that all of these releases serve
_TIMEOUT_MS = 30_000
TO_THE_END = -1


class Span:
    """Partitions of a topic, by their numbers as of each call."""

    def __init__(
        self,
        source: Source,
        topic: str,
        indexes: Callable[[], list[int]],
        partition: int | None = None,
    ) -> None:
        self.partition = partition
        """Its only one; None for all of the topic."""
        self._source = source
        self._topic = topic
        self._indexes = indexes

    def records(self, isolation: str, start: int | datetime | None = None, /) -> list[Raw]:
        """The records that a reader at this isolation level sees, from an offset or a time on."""
        found = self._read(start)
        return [record for one in found.values() for record in one.visible(isolation)]

    def decoded(self, name: str, value: Decoder, key: Decoder) -> Records[Any, Any]:
        """The same records with values and keys decoded."""
        new_reader = self._source.new_reader
        auto = None if new_reader is None else Auto(new_reader)
        of_key, of_value = function_of(key, "key", auto), function_of(value, "value", auto)

        def read_decoded(
            isolation: str, start: int | datetime | None = None, /
        ) -> list[SeenRecord[Any, Any]]:
            if auto is not None:
                auto.begin()
            return [decoded(each, of_key, of_value) for each in self.records(isolation, start)]

        return Records(f"{name}, decoded", read_decoded)

    def everything(self, start: Mapping[int, int]) -> dict[int, PartitionRecords]:
        """All that there is from these offsets on, by partition; from the start of others."""
        return read(self._source, self._topic, self._indexes(), start)

    def follow(self, start: Mapping[int, int], isolation: str) -> dict[int, tuple[list[Raw], int]]:
        """By partition, what has come since these offsets for a reader at this isolation level, and
        the offset to go on from."""
        if sharing := self._source.sharing:
            return sharing.since(self._topic, self.partition, start, isolation)
        return {
            index: (found.visible(isolation), max(found.end(isolation), start.get(index, 0)))
            for index, found in self.everything(start).items()
        }

    def starts(self, since: int | datetime) -> dict[int, int]:
        """Where each partition is to be read from, to see what there is from an offset or a time
        on; its end, if there is nothing yet that is so late."""
        indexes = self._indexes()
        if isinstance(since, int):
            return dict.fromkeys(indexes, since)
        found = offsets_at(self._source, self._topic, indexes, to_ms(since, 0))
        ends = self.ends(READ_UNCOMMITTED)
        return {index: offset if offset >= 0 else ends[index] for index, offset in found.items()}

    def ends(self, isolation: str) -> dict[int, int]:
        """Where each partition ends for a reader at this isolation level."""
        committed_only = isolation == READ_COMMITTED
        return offsets_at(self._source, self._topic, self._indexes(), LATEST, committed_only)

    def wait(self, what: str, look: Callable[[], T | None], there: Callable[[], str]) -> Wait[T]:
        """A wait for records. `look` reads on from where it has ended before."""
        return Wait(what, look, there, self._topic, self.partition, reads_records=True)

    def producers(self) -> list[SeenProducer]:
        return producers_of(self._source, self._topic, self._indexes())

    def truncate(self, before: int) -> None:
        """Delete the records before this offset; TO_THE_END for all. Raises Refused."""
        entry = DeleteRecordsRequest.Topic.Partition
        asked = [entry(partition_index=index, offset=before) for index in self._indexes()]
        topics = [DeleteRecordsRequest.Topic(name=self._topic, partitions=asked)]
        request = DeleteRecordsRequest(topics=topics, timeout_ms=_TIMEOUT_MS)
        upto = "all records" if before == TO_THE_END else f"the records before offset {before}"
        for answer in self._source.ask(request, _DELETE_RECORDS).topics[0].partitions:
            check(answer.error_code, f"deleting {upto} of {self._topic}-{answer.partition_index}")

    def size(self) -> int:
        """Bytes of all batches."""
        asked = DescribeLogDirsRequest.Topic(topic=self._topic, partitions=self._indexes())
        answer = self._source.ask(DescribeLogDirsRequest(topics=[asked]), _LOG_DIRS)
        directories = [topic for result in answer.results for topic in result.topics]
        return sum(each.partition_size for topic in directories for each in topic.partitions)

    def about(self) -> str:
        found = self._read(None).values()
        count = sum(len(each.records) for each in found)
        hidden = count - sum(len(each.visible(READ_COMMITTED)) for each in found)
        return number_of(count, "record") + f", {hidden} of them not committed" * bool(hidden)

    def _read(self, start: int | datetime | None) -> dict[int, PartitionRecords]:
        indexes = self._indexes()
        if start is None:
            return read(self._source, self._topic, indexes)
        if isinstance(start, datetime):
            found = offsets_at(self._source, self._topic, indexes, to_ms(start, 0))
            begin = {index: offset for index, offset in found.items() if offset >= 0}
        elif isinstance(start, int):
            begin = dict.fromkeys(indexes, start)
        else:
            raise TypeError(f"start is an offset (int) or a time (datetime), not {start!r}")
        return read(self._source, self._topic, begin, begin)
