"""The cluster as the records of its metadata log describe it: replaying them gives this.

Rules (KRaft's):
- Leader and partition epochs are not in a change record: one that names a leader, even the same or
  none (-1), adds 1 to the leader epoch, and every change adds 1 to the partition epoch.
- Fields that a change leaves out keep their value.
- A topic's configs go with the topic.
- Records between a begin and an end of a transaction count together, or, aborted, not at all.

Left out: quotas, SCRAM credentials, access rules, delegation tokens and the registrations of
brokers and controllers are passed over (they stay in the log). Source: KIP-631, KIP-868, KIP-966.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

from ..wire.stored.cluster import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    ConfigRecord,
    EndTransactionRecord,
    FeatureLevelRecord,
    MetadataRecord,
    PartitionChangeRecord,
    PartitionRecord,
    ProducerIdsRecord,
    RemoveTopicRecord,
    TopicRecord,
)

log = logging.getLogger("odradek")

TOPIC_RESOURCE = 2
BROKER_RESOURCE = 4
_LEADER_UNCHANGED = -2


@dataclass(slots=True)
class PartitionImage:
    """One partition: who has it, who leads it."""

    replicas: list[int]
    isr: list[int]
    leader: int
    leader_epoch: int
    partition_epoch: int
    has_eligible_leaders: bool = False
    """Brokers outside the ISR are noted as fit to lead (KIP-966)."""


@dataclass(slots=True)
class TopicImage:
    """One topic and its partitions by number."""

    name: str
    topic_id: bytes
    partitions: dict[int, PartitionImage] = field(default_factory=dict)


class MetadataImage:
    """What the records replayed so far amount to."""

    def __init__(self) -> None:
        self.features: dict[str, int] = {}
        self.topics: dict[bytes, TopicImage] = {}
        self.configs: dict[tuple[int, str], dict[str, str]] = {}
        """Resource type and name, to config name and text."""
        self.next_producer_id = 0
        self._transaction: list[MetadataRecord] | None = None

    @property
    def is_in_transaction(self) -> bool:
        """Whether records wait for the end of their transaction."""
        return self._transaction is not None

    def replay(self, record: MetadataRecord) -> None:
        """Take in the next record."""
        if isinstance(record, BeginTransactionRecord):
            self._transaction = []
        elif isinstance(record, AbortTransactionRecord):
            self._transaction = None
        elif isinstance(record, EndTransactionRecord):
            waiting, self._transaction = self._transaction or [], None
            for each in waiting:
                self._apply(each)
        elif self._transaction is not None:
            self._transaction.append(record)
        else:
            self._apply(record)

    def _apply(self, record: MetadataRecord) -> None:
        match record:
            case TopicRecord():
                self.topics[record.topic_id] = TopicImage(record.name, record.topic_id)
            case PartitionRecord():
                self._add_partition(record)
            case PartitionChangeRecord():
                self._change_partition(record)
            case RemoveTopicRecord():
                topic = self.topics.pop(record.topic_id, None)
                if topic is not None:
                    self.configs.pop((TOPIC_RESOURCE, topic.name), None)
            case ConfigRecord():
                self._configure(record)
            case FeatureLevelRecord():
                if record.feature_level:
                    self.features[record.name] = record.feature_level
                else:
                    self.features.pop(record.name, None)
            case ProducerIdsRecord():
                self.next_producer_id = record.next_producer_id

    def _add_partition(self, record: PartitionRecord) -> None:
        topic = self.topics.get(record.topic_id)
        if topic is None:
            log.warning("metadata log: a partition of an unknown topic: %r", record)
            return
        topic.partitions[record.partition_id] = PartitionImage(
            record.replicas,
            record.isr,
            record.leader,
            record.leader_epoch,
            record.partition_epoch,
            bool(record.eligible_leader_replicas or record.last_known_elr),
        )

    def _change_partition(self, record: PartitionChangeRecord) -> None:
        topic = self.topics.get(record.topic_id)
        partition = topic.partitions.get(record.partition_id) if topic is not None else None
        if partition is None:
            log.warning("metadata log: a change of an unknown partition: %r", record)
            return
        partition.partition_epoch += 1
        if record.leader != _LEADER_UNCHANGED:
            partition.leader = record.leader
            partition.leader_epoch += 1
        if record.isr is not None:
            partition.isr = record.isr
        if record.replicas is not None:
            partition.replicas = record.replicas
        if record.eligible_leader_replicas is not None or record.last_known_elr is not None:
            partition.has_eligible_leaders = bool(
                record.eligible_leader_replicas or record.last_known_elr
            )

    def _configure(self, record: ConfigRecord) -> None:
        resource = (record.resource_type, record.resource_name)
        texts = self.configs.setdefault(resource, {})
        if record.value is None:
            texts.pop(record.name, None)
        else:
            texts[record.name] = record.value
        if not texts:
            del self.configs[resource]
