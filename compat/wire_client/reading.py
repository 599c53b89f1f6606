"""Reading partitions: their records, and of each whether its transaction was committed.

Everything is fetched as an uncommitted reader does, from the offsets that are asked for to the high
watermark that the first answer tells. The state follows from the markers of transactions:

- a producer's transactional records are committed or aborted by its next marker;
- without a marker after them they are open, from the last stable offset on. Below it nothing is
  open, and compaction removes a marker only after what was aborted: there they are committed.

A reader of committed data sees committed records below the last stable offset.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ...wire import Error
from ...wire.api.fetch import FetchRequest, FetchResponse
from ...wire.api.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from ...wire.api.metadata import MetadataRequest, MetadataResponse
from ...wire.batch import LOG_APPEND_TIME, BatchHeader
from ...wire.legacy.as_batches import logged_batches, read_logged
from ...wire.primitives import Buffer
from ...wire.records import read_marker
from .record import ABORTED, COMMITTED, OPEN, Headers, Raw, SeenRecord
from .source import Source, check

EARLIEST = -2
LATEST = -1
READ_COMMITTED = "read_committed"
READ_UNCOMMITTED = "read_uncommitted"
_METADATA, _LIST_OFFSETS, _FETCH = 9, 6, 12  # versions that all of these releases serve
_NO_REPLICA = -1
_UNCOMMITTED, _COMMITTED = 0, 1
_CHUNK = 1 << 20
_ALL_CHUNKS = 16 << 20
_SEQUENCES = 1 << 31

Answer = FetchResponse.Topic.Partition


@dataclass(slots=True)
class PartitionRecords:
    """A partition as it was read, all isolation levels together."""

    log_start_offset: int = 0
    high_watermark: int = 0
    last_stable_offset: int = 0
    records: list[Raw] = field(default_factory=list)

    def visible(self, isolation: str) -> list[Raw]:
        """The records that a reader at this isolation level sees. Raises ValueError for another
        level."""
        if isolation == READ_UNCOMMITTED:
            return self.records
        if isolation != READ_COMMITTED:
            levels = f"{READ_COMMITTED!r} or {READ_UNCOMMITTED!r}"
            raise ValueError(f"isolation is {levels}, not {isolation!r}")
        stable = self.last_stable_offset
        return [each for each in self.records if each.state == COMMITTED and each.offset < stable]

    def end(self, isolation: str) -> int:
        return self.last_stable_offset if isolation == READ_COMMITTED else self.high_watermark


def partition_count(source: Source, topic: str) -> int:
    """How many partitions a topic has. Raises Refused(UNKNOWN_TOPIC_OR_PARTITION)."""
    return len(placed(source, topic))


def existing_topic(source: Source, topic: str) -> str:
    """The broker's name of a topic that a test names. Raises Refused
    (UNKNOWN_TOPIC_OR_PARTITION)."""
    name = source.topic_name(topic)
    placed(source, name)
    return name


def placed(source: Source, topic: str) -> list[MetadataResponse.Topic.Partition]:
    """The partitions of a topic by Metadata. Raises Refused
    (UNKNOWN_TOPIC_OR_PARTITION)."""
    asked = MetadataRequest.Topic(name=topic)
    request = MetadataRequest(topics=[asked], allow_auto_topic_creation=False)
    (found,) = source.ask(request, _METADATA).topics
    check(found.error_code, f"there is no topic {topic!r}")
    partitions: list[MetadataResponse.Topic.Partition] = found.partitions
    return partitions


def offsets_at(
    source: Source,
    topic: str,
    partitions: Iterable[int],
    timestamp: int,
    committed_only: bool = False,
) -> dict[int, int]:
    """`offsets_of` partitions of one topic, by partition."""
    places = [(topic, index) for index in partitions]
    found = offsets_of(source, places, timestamp, committed_only)
    return {index: offset for (_, index), offset in found.items()}


def offsets_of(
    source: Source,
    places: Iterable[tuple[str, int]],
    timestamp: int,
    committed_only: bool = False,
) -> dict[tuple[str, int], int]:
    """ListOffsets: the first offset at or after a time (ms), EARLIEST or LATEST, by topic and
    partition; -1 where there is none. With `committed_only` the latest is the last stable offset.
    Raises Refused."""
    level = _COMMITTED if committed_only else _UNCOMMITTED
    found = {}
    for (topic, index), each in listed_offsets(source, places, timestamp, level):
        check(each.error_code, f"the offsets of {topic}-{index}")
        found[topic, index] = each.offset
    return found


def listed_offsets(
    source: Source, places: Iterable[tuple[str, int]], timestamp: int, isolation: int
) -> Iterator[tuple[tuple[str, int], ListOffsetsResponse.Topic.Partition]]:
    """What one ListOffsets request is answered for each partition, errors too."""
    entry = ListOffsetsRequest.Topic.Partition
    by_topic: dict[str, list[Any]] = {}
    for topic, index in places:
        asked = entry(partition_index=index, timestamp=timestamp)
        by_topic.setdefault(topic, []).append(asked)
    topics = [
        ListOffsetsRequest.Topic(name=topic, partitions=asked) for topic, asked in by_topic.items()
    ]
    if not topics:
        return
    request = ListOffsetsRequest(replica_id=_NO_REPLICA, isolation_level=isolation, topics=topics)
    for answered in source.ask(request, _LIST_OFFSETS).topics:
        for each in answered.partitions:
            yield (answered.name, each.partition_index), each


def read(
    source: Source, topic: str, partitions: Iterable[int], start: Mapping[int, int] | None = None
) -> dict[int, PartitionRecords]:
    """The records of these partitions, from the log start or from these offsets on. Raises
    Refused; for damaged batches too."""
    readers = {index: _Reader(topic, index) for index in partitions}
    for index, offset in (start or {}).items():
        readers[index].offset = offset
    while unread := [each for each in readers.values() if not each.is_done]:
        entry = FetchRequest.Topic.Partition
        asked = [
            entry(partition=each.index, fetch_offset=each.offset, partition_max_bytes=_CHUNK)
            for each in unread
        ]
        topics = [FetchRequest.Topic(topic=topic, partitions=asked)]
        request = FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=_ALL_CHUNKS, topics=topics)
        answer = source.ask(request, _FETCH)
        check(answer.error_code, f"reading {topic}")
        answered = answer.responses[0].partitions
        outside = [
            each.partition_index
            for each in answered
            if not readers[each.partition_index].take(each)
        ]
        if outside:
            for index, offset in offsets_at(source, topic, outside, EARLIEST).items():
                readers[index].begin_at(offset)
    return {index: reader.end() for index, reader in readers.items()}


def has_more(source: Source, topic: str, partition: int, offset: int, isolation: str) -> bool:
    """Whether a reader at this isolation level, who has read up to an offset, has something yet to
    read: markers, aborted records and gaps are nothing. Stops at the first record. Raises
    Refused."""
    level = _COMMITTED if isolation == READ_COMMITTED else _UNCOMMITTED
    aborting: set[int] = set()
    while True:
        entry = FetchRequest.Topic.Partition(
            partition=partition, fetch_offset=offset, partition_max_bytes=_CHUNK
        )
        topics = [FetchRequest.Topic(topic=topic, partitions=[entry])]
        request = FetchRequest(
            max_wait_ms=0, min_bytes=0, max_bytes=_CHUNK, isolation_level=level, topics=topics
        )
        (answer,) = source.ask(request, _FETCH).responses[0].partitions
        if answer.error_code == Error.OFFSET_OUT_OF_RANGE:  # records were deleted, or the topic
            earliest = offsets_at(source, topic, [partition], EARLIEST)[partition]
            if offset >= earliest:
                return False
            offset = earliest
            continue
        check(answer.error_code, f"reading {topic}-{partition}")
        aborted = sorted(
            ((each.first_offset, each.producer_id) for each in answer.aborted_transactions or ()),
            reverse=True,
        )
        before, records = offset, answer.records or b""
        for position, header in logged_batches(records):
            while aborted and aborted[-1][0] <= header.last_offset:
                aborting.add(aborted.pop()[1])
            if header.is_control:
                aborting.discard(header.producer_id)
            elif not (header.is_transactional and header.producer_id in aborting) and any(
                each.offset >= offset for each in read_logged(records, position)
            ):
                return True
            offset = max(offset, header.last_offset + 1)
        if offset == before:
            return False


class _Reader:
    def __init__(self, topic: str, index: int) -> None:
        self.topic = topic
        self.index = index
        self.offset = 0
        self.is_done = False
        self._begins = 0
        self._seen = PartitionRecords(high_watermark=-1)
        # Of each producer, where in the list its records without a marker are.
        self._unended: dict[int, list[int]] = {}

    def begin_at(self, log_start_offset: int) -> None:
        """The offset lay outside of the log."""
        self.is_done = self.offset > log_start_offset  # above its end: there is nothing
        self.offset = log_start_offset

    def take(self, answer: Answer) -> bool:
        """Take in an answer. Returns False if the offset lies outside of the log."""
        if answer.error_code == Error.OFFSET_OUT_OF_RANGE:
            return False
        check(answer.error_code, f"reading {self.topic}-{self.index}")
        seen = self._seen
        if seen.high_watermark < 0:
            self._begins = self.offset
            seen.log_start_offset = answer.log_start_offset
            seen.high_watermark = answer.high_watermark
            seen.last_stable_offset = answer.last_stable_offset
        records, before = answer.records or b"", self.offset
        for position, header in logged_batches(records):
            self._add(header, records, position)
            self.offset = max(self.offset, header.last_offset + 1)
        # Compaction and repairs may have left nothing up to the high watermark.
        self.is_done = self.offset >= seen.high_watermark or self.offset == before
        return True

    def _add(self, header: BatchHeader, records: Buffer, position: int) -> None:
        seen = self._seen
        if header.is_control:
            if header.producer_id >= 0 and header.count:
                state = COMMITTED if read_marker(records, position).commit else ABORTED
                for place in self._unended.pop(header.producer_id, ()):
                    seen.records[place] = replace(seen.records[place], state=state)
            return
        kind = "LogAppendTime" if header.attributes & LOG_APPEND_TIME else "CreateTime"
        in_transaction = header.is_transactional and header.producer_id >= 0
        known = header.producer_id >= 0 and header.base_sequence >= 0
        for record in read_logged(records, position):
            offset = record.offset
            if not self._begins <= offset < seen.high_watermark:
                continue
            if in_transaction:
                self._unended.setdefault(header.producer_id, []).append(len(seen.records))
            sequence = (header.base_sequence + offset - header.base_offset) % _SEQUENCES
            seen.records.append(
                SeenRecord(
                    *(self.topic, self.index, offset, record.timestamp, kind),
                    *(record.key, record.value, Headers(record.headers)),
                    header.producer_id,
                    header.producer_epoch,
                    sequence if known else -1,
                    header.is_transactional,
                    COMMITTED,
                )
            )

    def end(self) -> PartitionRecords:
        seen = self._seen
        for places in self._unended.values():
            for place in places:
                if seen.records[place].offset >= seen.last_stable_offset:
                    seen.records[place] = replace(seen.records[place], state=OPEN)
        return seen
