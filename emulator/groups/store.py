"""The coordinator and its topic: records appended to `__consumer_offsets`, and replayed at start.

The log is the truth and the coordinator's memory a cache of it. The topic is made when a group is
first looked for; unlike a real broker, which answers COORDINATOR_NOT_AVAILABLE until it has done
so, this one makes it on the spot.
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
from .coordinator import Coordinator
from .record_encoding import decode, encode
from .records import Record
from .responses import send
from .runtime import Producer
from .settings import ConsumerTimes, GroupSettings
from .shard import Replayed, TransactionEnd
from .topics_view import TopicsView

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..config.configs import BrokerConfig
    from ..partitions.partition import Partition

OFFSETS_TOPIC = "__consumer_offsets"


class Groups(Coordinator):
    """The group coordinator of a cluster, on its own topic."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(
            append=self._append_records,
            send=send,
            timers=cluster.timers,
            now=cluster.clock.now,
            settings=settings_of(cluster.config),
            topics=TopicsView(cluster.topics, lambda: cluster.topics.metadata_log.end_offset),
            consumer_times_of=partial(_times_of, cluster),
        )
        self._cluster = cluster
        topic = cluster.topics.get(OFFSETS_TOPIC)
        if topic is not None:
            self._load(topic.partitions)

    def ensure_topic(self) -> None:
        """Create `__consumer_offsets` if there is none yet."""
        if not self.shards:
            self._load(self._cluster.topics.ensure_internal(OFFSETS_TOPIC).partitions)

    def topic_deleted(self, topic: str) -> None:
        """Forget what was committed for a topic; if it is the coordinator's own, everything: it
        is nobody's coordinator until the topic is made again."""
        if topic == OFFSETS_TOPIC:
            for partition in list(self.shards):
                self.resign(partition)
        else:
            super().topic_deleted(topic)

    def _load(self, partitions: Sequence[Partition]) -> None:
        # The topic may have been made with another number of partitions than is configured now.
        self.settings.partitions = len(partitions)
        for partition in partitions:
            self.load(partition.index, _replayed(partition))

    def _append_records(
        self, group_id: str, records: Sequence[Record], producer: Producer | None = None, /
    ) -> None:
        topic = self._cluster.topics.get(OFFSETS_TOPIC)
        if topic is None:
            raise Refused(Error.UNKNOWN_TOPIC_OR_PARTITION)
        partition = topic.partitions[self.partition_for(group_id)]
        now = self._cluster.clock.now()
        encoded = [encode(record, now) for record in records]
        # Kafka's coordinators write with sequence 0 and no producer id.
        batch = build_batch(
            encoded,
            base_sequence=0,
            producer_id=-1 if producer is None else producer.producer_id,
            producer_epoch=-1 if producer is None else producer.epoch,
            transactional=producer is not None,
        )
        if len(batch) > topic.config.max_message_bytes:
            raise Refused(Error.MESSAGE_TOO_LARGE)
        partition.append(batch, read_header(batch), now)


def settings_of(config: BrokerConfig) -> GroupSettings:
    """What the broker's configs say of groups."""
    return GroupSettings(
        initial_rebalance_delay_ms=config.get("group.initial.rebalance.delay.ms"),
        max_size=config.get("group.max.size"),
        min_session_timeout_ms=config.get("group.min.session.timeout.ms"),
        max_session_timeout_ms=config.get("group.max.session.timeout.ms"),
        newcomers_leave_with_a_round=not config.is_old,
        metadata_max_chars=config.get("offset.metadata.max.bytes"),
        retention_ms=config.get("offsets.retention.minutes") * 60_000,
        retention_check_interval_ms=config.get("offsets.retention.check.interval.ms"),
        partitions=config.get("offsets.topic.num.partitions"),
        consumer_session_timeout_ms=config.get("group.consumer.session.timeout.ms"),
        consumer_heartbeat_interval_ms=config.get("group.consumer.heartbeat.interval.ms"),
        consumer_assignment_interval_ms=config.get("group.consumer.assignment.interval.ms"),
        consumer_max_size=config.get("group.consumer.max.size"),
        consumer_assignors=tuple(config.get("group.consumer.assignors")),
        consumer_migration_policy=config.get("group.consumer.migration.policy"),
        consumer_regex_refresh_interval_ms=config.get("group.consumer.regex.refresh.interval.ms"),
    )


def _times_of(cluster: Cluster, group_id: str) -> ConsumerTimes:
    """What a consumer group obeys now: its own configs, or else the broker's."""
    configs = group_config(cluster, group_id)
    return ConsumerTimes(
        configs.get("consumer.session.timeout.ms"),
        configs.get("consumer.heartbeat.interval.ms"),
        configs.get("consumer.assignment.interval.ms"),
    )


def _replayed(partition: Partition) -> Iterator[Replayed | TransactionEnd]:
    """What a partition's log says, in order. A record that cannot be read is named and passed
    over, where a real broker would refuse to load the partition."""
    stored = partition.log
    for header, chunk, pos in stored.batches_from(stored.log_start_offset):
        if header.is_control:
            marker = find_marker(memoryview(chunk)[pos:], header)
            if marker is not None:  # else compaction took it, after its transaction's offsets
                yield TransactionEnd(header.producer_id, marker.commit)
            continue
        producer_id = header.producer_id if header.is_transactional else None
        for record in read_logged(chunk, pos):
            try:
                decoded = decode(record)
            except WireError as error:
                log.error("%s: record %d passed over: %s", partition, record.offset, error)
                continue
            if decoded is not None:
                yield Replayed(decoded, producer_id)
