"""Views of a topic and of a partition: what is in them, and verbs that need no client."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...wire.api.create_partitions import CreatePartitionsRequest
from ...wire.api.describe_configs import DescribeConfigsRequest
from ...wire.api.metadata import MetadataResponse
from ..base.words import Guessable, number_of
from ..parameters import ConfigValue, broker_id, changed_configs
from .asserting import RecordAsserts
from .configuring import TOPIC, set_configs
from .decoding import Decoder
from .moving import Moving
from .produced import Content, GivenHeaders, NewRecord, Producing, Time, listed, new_record
from .reading import (
    EARLIEST,
    LATEST,
    READ_UNCOMMITTED,
    offsets_at,
    partition_count,
    placed,
    read,
)
from .record import Raw
from .record_waits import RecordWaits, Spanning
from .segments import SeenSegment
from .source import Source, check, described, no_partition
from .span import TO_THE_END, Span
from .transactions import SeenProducer
from .verbs import Records

# Versions that all of these releases serve.
_CREATE_PARTITIONS, _DESCRIBE_CONFIGS = 3, 4
_TIMEOUT_MS = 30_000
_TOPIC = 2


class _SpanVerbs(Spanning):
    """What a topic and a partition have in common, besides their records."""

    def decoded(self, value: Decoder = None, key: Decoder = None) -> Records[Any, Any]:
        """The same records with values and keys decoded: by "json", "text", or any function of
        bytes. None stays None. Reading raises ValueError that names a record for which a decoder
        fails."""
        return self._span.decoded(self.name, value, key)

    def producers(self) -> list[SeenProducer]:
        """Those that have written here with a producer id, and were not forgotten since."""
        return self._span.producers()

    def truncate(self, before: int) -> None:
        """Delete the records before this offset, as DeleteRecords does in each partition. Raises
        Refused: OFFSET_OUT_OF_RANGE for an offset above the end, POLICY_VIOLATION if the topic is
        only compacted."""
        self._span.truncate(before)

    def empty(self) -> None:
        """Delete all records, as DeleteRecords does; offsets go on from the end. Raises Refused:
        POLICY_VIOLATION if the topic is only compacted."""
        self._span.truncate(TO_THE_END)

    @property
    def size(self) -> int:
        """Bytes of all batches."""
        return self._span.size()


class PartitionView(
    Records[bytes | None, bytes | None], _SpanVerbs, RecordWaits, RecordAsserts, Moving, Guessable
):
    """One partition: `topic[0]`."""

    def __init__(self, source: Source, topic: str, index: int) -> None:
        self._span = Span(source, topic, lambda: [index], index)
        super().__init__(f"{topic}-{index}", self._span.records)
        self._source = source
        self._topic = topic
        self.index = index

    def __repr__(self) -> str:
        return described(self.name, self._span.about)

    @property
    def topic(self) -> str:
        """The name of its topic."""
        return self._topic

    @property
    def log_start_offset(self) -> int:
        """The first offset that can be read."""
        return self._offset(EARLIEST)

    @property
    def log_end_offset(self) -> int:
        """The offset that the next record will get."""
        return self._offset(LATEST)

    @property
    def high_watermark(self) -> int:
        """Readers of uncommitted data see records below it."""
        return self._offset(LATEST)

    @property
    def last_stable_offset(self) -> int:
        """Readers of committed data see records below it: before the first open transaction."""
        end = self._offset(LATEST)
        found = read(self._source, self._topic, [self.index], {self.index: end})
        return found[self.index].last_stable_offset

    @property
    def leader(self) -> int:
        """The id of the broker that leads it, -1 if none does."""
        return self._placed().leader_id

    @property
    def replicas(self) -> list[int]:
        """The ids of the brokers that have it, the preferred leader first."""
        return self._placed().replica_nodes

    @property
    def isr(self) -> list[int]:
        """The ids of those that are in sync."""
        return self._placed().isr_nodes

    def shrink_isr(self, broker: int) -> None:
        """Keep a follower from being in sync, by the id of its broker, until `grow_isr`. It follows
        as before. Raises ValueError for who is no follower, RuntimeError if nobody leads,
        TypeError."""
        self._source.powers.shrink_isr(self._topic, self.index, broker_id(broker))

    def grow_isr(self, broker: int) -> None:
        """Have a follower in sync, by the id of its broker: one that was kept out, or lags, catches
        up. Raises as `shrink_isr`, and RuntimeError for a broker that does not run."""
        self._source.powers.grow_isr(self._topic, self.index, broker_id(broker))

    def segments(self) -> list[SeenSegment]:
        """Its segments, the oldest first."""
        return self._source.powers.segments(self._topic, self.index)

    def retain(self) -> int:
        """Apply retention now; return how many segments were deleted."""
        return self._source.powers.retain(self._topic, self.index)

    def compact(self) -> int:
        """Compact it now, as `TopicView.compact` does; returns 1 if there was something to
        compact, else 0."""
        return self._source.powers.compact(self._topic, self.index)

    def produce(
        self,
        value: Content,
        key: Content = None,
        *,
        headers: GivenHeaders = None,
        timestamp: Time = None,
    ) -> Raw:
        """Produce one record to this partition, as `TopicView.produce` does."""
        view = TopicView(self._source, self._topic)
        at = self.index
        return view.produce(value, key, headers=headers, timestamp=timestamp, partition=at)

    def _placed(self) -> MetadataResponse.Topic.Partition:
        found = placed(self._source, self._topic)
        return next(each for each in found if each.partition_index == self.index)

    def _offset(self, which: int) -> int:
        return offsets_at(self._source, self._topic, [self.index], which)[self.index]


class TopicView(
    Records[bytes | None, bytes | None], _SpanVerbs, RecordWaits, RecordAsserts, Guessable
):
    """A topic: `topic[0]` is a partition, `len(topic)` their number."""

    def __init__(self, source: Source, name: str) -> None:
        self._span = Span(source, name, lambda: list(range(len(self))))
        super().__init__(name, self._span.records)
        self._source = source

    def __repr__(self) -> str:
        return described(f"topic {self.name}", self._span.about)

    def __len__(self) -> int:
        return partition_count(self._source, self.name)

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[PartitionView]:
        return (PartitionView(self._source, self.name, index) for index in range(len(self)))

    def __getitem__(self, index: int) -> PartitionView:
        if not isinstance(index, int):
            raise TypeError(f"a partition of {self.name} is given by its number, not {index!r}")
        count = len(self)
        if not 0 <= index < count:
            raise IndexError(no_partition(self.name, index, count))
        return PartitionView(self._source, self.name, index)

    def produce(
        self,
        value: Content,
        key: Content = None,
        *,
        headers: GivenHeaders = None,
        timestamp: Time = None,
        partition: int | None = None,
    ) -> Raw:
        """Produce one record, which is checked as a client's is; return it as it is stored.

        Value and key are bytes, str (its UTF-8), None, or anything else as JSON; headers a dict or
        a list of pairs; timestamp in ms since 1970 or a datetime, by default the broker's present
        time. Without a partition it is the one that Kafka's clients choose for the key, or the
        first. A leader that has just died is waited for as clients do, until another one leads:
        WaitTimeout after `kafka.timeout`. Raises Refused as Produce would answer, ValueError for a
        partition that does not exist, TypeError.
        """
        record = NewRecord(value, key, headers, timestamp, partition)
        ((at, offset),) = self.produce_all([record])
        found = read(self._source, self.name, [at], {at: offset})[at]
        return found.visible(READ_UNCOMMITTED)[0]

    def produce_all(self, records: Iterable[Any]) -> list[tuple[int, int]]:
        """Produce many: each is a NewRecord(value, key, headers, timestamp, partition), or a value.
        Returns partition and offset of each. Those without key and partition go to the partitions
        in turn. Raises as `produce` does."""
        given = [new_record(each) for each in listed("records", records)]
        if not given:
            return []
        producing = Producing(self._source, self.name, len(self), self._largest_batch())
        return producing.send(given)

    def add_partitions(self, count: int) -> int:
        """Add this many partitions; return how many there are then. Raises Refused as
        CreatePartitions would answer."""
        total = len(self) + count
        topic = CreatePartitionsRequest.Topic(name=self.name, count=total, assignments=None)
        request = CreatePartitionsRequest(
            topics=[topic], timeout_ms=_TIMEOUT_MS, validate_only=False
        )
        (result,) = self._source.ask(request, _CREATE_PARTITIONS).results
        what = f"adding {number_of(count, 'partition')} to {self.name}"
        check(result.error_code, what, result.error_message)
        return total

    def set_config(self, configs: Mapping[str, ConfigValue | None]) -> None:
        """Set configs, as IncrementalAlterConfigs; None goes back to the default. All of them are
        set, or none. Raises Refused(INVALID_CONFIG), TypeError."""
        set_configs(self._source, TOPIC, self.name, changed_configs(configs))

    def retain(self) -> int:
        """Apply retention now, instead of when the broker next does; return how many segments were
        deleted."""
        return self._source.powers.retain(self.name, None)

    def compact(self) -> int:
        """Compact it now, whatever its dirty ratio and lags; return how many partitions had
        something to compact. Everything is compacted that was written until now, except from the
        start of an open transaction on. Raises Refused: POLICY_VIOLATION for a topic whose
        `cleanup.policy` is without compact."""
        return self._source.powers.compact(self.name, None)

    def _largest_batch(self) -> int:
        """The topic's `max.message.bytes`."""
        key = "max.message.bytes"
        asked = DescribeConfigsRequest.Resource(
            resource_type=_TOPIC, resource_name=self.name, configuration_keys=[key]
        )
        (found,) = self._source.ask(
            DescribeConfigsRequest(resources=[asked]), _DESCRIBE_CONFIGS
        ).results
        check(found.error_code, f"the configs of {self.name}", found.error_message)
        return int(found.configs[0].value)
