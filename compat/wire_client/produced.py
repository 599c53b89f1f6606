"""Records that a test produces without a client: their bytes, their partitions, their batches.

Records with a key go where Kafka's own clients send them: to the partition of the key's murmur2
hash. Those without one go to the partitions in turn, from partition 0 on in each call. They are
sent in batches of at most half a megabyte, or of the topic's `max.message.bytes` if that is less.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

from ...emulator.base.words import number_of
from ...wire.api.produce import ProduceRequest
from ...wire.records import NewRecord as BatchRecord
from ...wire.records import build_batch
from .source import Source, check, no_partition

Content: TypeAlias = Any
"""A key or a value: bytes, str (its UTF-8), None, or anything else that JSON can express."""
GivenHeaders: TypeAlias = Mapping[str, Any] | Sequence[tuple[str, Any]] | None
Time: TypeAlias = int | datetime | None
"""In ms since 1970, or a datetime; None for the broker's present time."""

_PRODUCE = 9  # a version that all of these releases serve
_ALL_REPLICAS = -1
_TIMEOUT_MS = 30_000
_BATCH_BYTES = 512 << 10
_RECORD_OVERHEAD = 30
_BATCH_OVERHEAD = 100


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A record to be produced. See `TopicView.produce`."""

    value: Content
    key: Content = None
    headers: GivenHeaders = None
    timestamp: Time = None
    partition: int | None = None


class TopicSeeds(NamedTuple):
    """Records to begin with, and the topic that they need if there is none yet."""

    records: list[NewRecord]
    partitions: int
    configs: Mapping[str, str] = {}


def listed(name: str, given: Iterable[Any]) -> list[Any]:
    """Records that were given. Raises TypeError for a single one, and for what is none."""
    if isinstance(given, str | bytes | Mapping | NewRecord) or not isinstance(given, Iterable):
        raise TypeError(f"{name} is a list of records, not {given!r}: put a single one in a list")
    return list(given)


def new_record(value: Any) -> NewRecord:
    return value if isinstance(value, NewRecord) else NewRecord(value)


def to_bytes(content: Content, name: str) -> bytes | None:
    """A key or a value as it is stored. Raises TypeError for what JSON cannot express."""
    if content is None or isinstance(content, bytes):
        return content
    if isinstance(content, bytearray | memoryview):
        return bytes(content)
    if isinstance(content, str):
        return content.encode()
    try:
        return json.dumps(content, ensure_ascii=False).encode()
    except TypeError as error:
        kinds = "bytes, a str, None, or what JSON can express"
        raise TypeError(f"{name} is {kinds}, not {content!r}: {error}") from None


def to_ms(time: Time, now: int) -> int:
    """A time as it is stored. Raises TypeError, ValueError."""
    if time is None:
        return now
    ms = round(time.timestamp() * 1000) if isinstance(time, datetime) else time
    if type(ms) is not int:
        raise TypeError(f"timestamp is ms since 1970 (int) or a datetime, not {time!r}")
    if ms < 0:
        raise ValueError(f"timestamp is not before 1970, as {time!r} is")
    return ms


def to_pairs(headers: GivenHeaders) -> tuple[tuple[str, bytes | None], ...]:
    """Headers as they are stored. Raises TypeError."""
    given = headers.items() if isinstance(headers, Mapping) else headers or ()
    return tuple((name, to_bytes(value, f"the header {name!r}")) for name, value in given)


class Producing:
    def __init__(self, source: Source, topic: str, partitions: int, batch_bytes: int) -> None:
        self._source = source
        self._topic = topic
        self._partitions = partitions
        self._batch_bytes = min(_BATCH_BYTES, batch_bytes) - _BATCH_OVERHEAD

    def send(self, records: Iterable[NewRecord]) -> list[tuple[int, int]]:
        """Produce records; return partition and offset of each. Raises Refused; then those before
        are stored. TypeError, ValueError: then none is."""
        now = self._source.now()
        placed = [(partition, _stored(record, now)) for record, partition in self._places(records)]
        by_partition: dict[int, list[int]] = {}
        for number, (partition, _) in enumerate(placed):
            by_partition.setdefault(partition, []).append(number)
        offsets = [0] * len(placed)
        for partition, numbers in by_partition.items():
            done = 0
            for batch in self._batches([placed[number][1] for number in numbers]):
                base = self._send(partition, batch)
                for number in numbers[done : done + len(batch)]:
                    offsets[number] = base
                    base += 1
                done += len(batch)
        return [(place[0], offset) for place, offset in zip(placed, offsets, strict=True)]

    def _places(self, records: Iterable[NewRecord]) -> Iterator[tuple[NewRecord, int]]:
        turn = 0
        for record in records:
            partition = record.partition
            if partition is None and record.key is not None:
                key = to_bytes(record.key, "key") or b""
                partition = (murmur2(key) & 0x7FFFFFFF) % self._partitions
            elif partition is None:
                partition = turn % self._partitions
                turn += 1
            if not 0 <= partition < self._partitions:
                raise ValueError(no_partition(self._topic, partition, self._partitions))
            yield record, partition

    def _batches(self, records: Sequence[BatchRecord]) -> Iterator[list[BatchRecord]]:
        batch: list[BatchRecord] = []
        size = 0
        for record in records:
            own = _RECORD_OVERHEAD + len(record.key or b"") + len(record.value or b"")
            own += sum(len(name) * 4 + len(value or b"") + 10 for name, value in record.headers)
            if batch and size + own > self._batch_bytes:
                yield batch
                batch, size = [], 0
            batch.append(record)
            size += own
        if batch:
            yield batch

    def _send(self, partition: int, batch: list[BatchRecord]) -> int:
        """Produce one batch; return its base offset."""
        entry = ProduceRequest.Topic.Partition(index=partition, records=build_batch(batch))
        topics = [ProduceRequest.Topic(name=self._topic, partition_data=[entry])]
        request = ProduceRequest(acks=_ALL_REPLICAS, timeout_ms=_TIMEOUT_MS, topic_data=topics)
        answer = self._source.ask(request, _PRODUCE)
        (result,) = answer.responses[0].partition_responses
        message = result.error_message or ""  # which has the errors of the first records, or none
        reasons = [each.batch_index_error_message or "" for each in result.record_errors]
        message = "; ".join(
            filter(None, [message, *(each for each in reasons if each not in message)])
        )
        what = f"producing {number_of(len(batch), 'record')} to {self._topic}-{partition}"
        check(result.error_code, what, message)
        offset: int = result.base_offset
        return offset


def _stored(record: NewRecord, now: int) -> BatchRecord:
    key, value = to_bytes(record.key, "key"), to_bytes(record.value, "value")
    return BatchRecord(to_ms(record.timestamp, now), key, value, to_pairs(record.headers))


def murmur2(data: bytes) -> int:
    """The 32-bit hash by which Kafka's clients choose the partition of a key."""
    factor, seed, mask = 0x5BD1E995, 0x9747B28C, 0xFFFFFFFF
    found = seed ^ len(data)
    whole = len(data) & ~3
    for at in range(0, whole, 4):
        part = int.from_bytes(data[at : at + 4], "little") * factor & mask
        part = (part ^ (part >> 24)) * factor & mask
        found = (found * factor & mask) ^ part
    if whole < len(data):
        found = (found ^ int.from_bytes(data[whole:], "little")) * factor & mask
    found = (found ^ (found >> 13)) * factor & mask
    return found ^ (found >> 15)
