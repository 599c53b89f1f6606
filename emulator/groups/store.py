"""The coordinator and its topic: records appended to `__consumer_offsets`, and replayed at start.

The coordinator's memory holds nothing that the log does not. The topic is created when a group is
first looked for, before that request is answered; a real broker answers COORDINATOR_NOT_AVAILABLE
until it has created it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ...storage.recovery.producer_replay import find_marker
from ...wire import Error, Refused, WireError
from ...wire.batch import read_header
from ...wire.legacy.as_batches import read_logged
from ...wire.records import build_batch
from ..base.logger import log
from ..config.group import group_config
from ..config.internal_topics import CONSUMER_OFFSETS
from .classic.responses import send
from .consumer.times import ConsumerTimes
from .coordinator import Coordinator
from .offsets.records import OffsetRecord
from .records import LogEntry, Record, Replayed, TransactionEnd, encode
from .runtime import Producer
from .settings import settings_of
from .topics_view import TopicsView

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..partitions.partition import Partition


class Groups(Coordinator):
    """The group coordinator of a cluster, on its own topic."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(
            append=self._append_records,
            send=send,
            timers=cluster.timers,
            now=cluster.clock.now,
            settings=settings_of(cluster.config),
            topics=TopicsView(cluster.topics, lambda: cluster.metadata.end_offset),
            consumer_times_of=partial(_times_of, cluster),
        )
        self._cluster = cluster
        topic = cluster.topics.get(CONSUMER_OFFSETS)
        if topic is not None:
            self._load(topic.partitions)

    def ensure_topic(self) -> None:
        """Create `__consumer_offsets` if there is none yet."""
        if not self.shards:
            self._load(self._cluster.topics.ensure_internal(CONSUMER_OFFSETS).partitions)

    def topic_deleted(self, topic: str) -> None:
        """Delete what was committed for the topic. If it is the coordinator's own, forget all
        groups: there is no coordinator until the topic is created again."""
        if topic == CONSUMER_OFFSETS:
            for partition in list(self.shards):
                self.resign(partition)
        else:
            super().topic_deleted(topic)

    def _load(self, partitions: Sequence[Partition]) -> None:
        # The topic may have been created with another number of partitions than is configured now.
        self.settings.partitions = len(partitions)
        for partition in partitions:
            self.load(partition.index, self._entries(partition))

    def _append_records(
        self, group_id: str, records: Sequence[Record], producer: Producer | None = None, /
    ) -> None:
        topic = self._cluster.topics.get(CONSUMER_OFFSETS)
        if topic is None:
            raise Refused(Error.UNKNOWN_TOPIC_OR_PARTITION)
        partition = topic.partitions[self.partition_for(group_id)]
        now = self._cluster.clock.now()
        encoded = [encode(record, now) for record in records]
        # Kafka's coordinators write with sequence 0 and no producer id, of old only offsets so.
        has_sequence = self.settings.numbers_group_records or isinstance(records[0], OffsetRecord)
        batch = build_batch(
            encoded,
            base_sequence=0 if has_sequence else -1,
            producer_id=-1 if producer is None else producer.producer_id,
            producer_epoch=-1 if producer is None else producer.epoch,
            transactional=producer is not None,
        )
        if len(batch) > topic.config.max_message_bytes:
            raise Refused(Error.MESSAGE_TOO_LARGE)
        partition.append(batch, read_header(batch), now)

    def _entries(self, partition: Partition) -> Iterator[LogEntry]:
        """What a partition's log holds, in order. A record that cannot be decoded is named in the
        broker's log and skipped; a real broker would refuse to load the partition."""
        stored = partition.log
        for header, chunk, pos in stored.reader.batches_from(stored.log_start_offset):
            if header.is_control:
                marker = find_marker(memoryview(chunk)[pos:], header)
                if marker is not None:  # else compaction removed it, and its offsets before it
                    yield TransactionEnd(header.producer_id, marker.commit)
                continue
            producer_id = header.producer_id if header.is_transactional else None
            for record in read_logged(chunk, pos):
                try:
                    decoded = self.runtime.decode(record)
                except WireError as error:
                    log.error("%s: record %d skipped: %s", partition, record.offset, error)
                    continue
                if decoded is not None:
                    yield Replayed(decoded, producer_id)


def _times_of(cluster: Cluster, group_id: str) -> ConsumerTimes:
    """The times of a consumer group as of now: its own configs, or else the broker's."""
    configs = group_config(cluster, group_id)
    return ConsumerTimes(
        configs.get("consumer.session.timeout.ms"),
        configs.get("consumer.heartbeat.interval.ms"),
        configs.get("consumer.assignment.interval.ms"),
    )
