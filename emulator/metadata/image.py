"""The cluster as the records of its metadata log describe it; replaying them builds this image.

Rules (KRaft's):
- Leader and partition epochs are not in a change record: one that names a leader, even the same or
  none (-1), adds 1 to the leader epoch, and every change adds 1 to the partition epoch.
- Fields that a change leaves out keep their value.
- The configs of a topic are deleted with it.
- Records between a begin and an end of a transaction count together, or, aborted, not at all.
- Whatever a record touches is noted in the delta that is given with it (delta.py).

What the emulator has no use for (access rules, delegation tokens, registrations of brokers and
controllers, how far a migration from ZooKeeper is) is kept, so that a snapshot can hand it on.
Source: KIP-631, KIP-868, KIP-966; how a snapshot orders it is snapshot.py's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from ...wire.stored.cluster import (
    AbortTransactionRecord,
    AccessControlEntryRecord,
    BeginTransactionRecord,
    BrokerRegistrationChangeRecord,
    ClearElrRecord,
    ClientQuotaRecord,
    ConfigRecord,
    DelegationTokenRecord,
    EndTransactionRecord,
    FeatureLevelRecord,
    FenceBrokerRecord,
    MetadataRecord,
    PartitionChangeRecord,
    PartitionRecord,
    ProducerIdsRecord,
    RegisterBrokerRecord,
    RegisterControllerRecord,
    RemoveAccessControlEntryRecord,
    RemoveDelegationTokenRecord,
    RemoveTopicRecord,
    RemoveUserScramCredentialRecord,
    TopicRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
    UserScramCredentialRecord,
    ZkMigrationStateRecord,
)
from ...wire.stored.control import ControlRecord, KRaftVersion, KRaftVoters
from ..base.logger import log
from .delta import MetadataDelta
from .features import KRAFT_VERSION

TOPIC_RESOURCE = 2
BROKER_RESOURCE = 4
_LEADER_UNCHANGED = -2
_YES = 1

K = TypeVar("K")
N = TypeVar("N")
V = TypeVar("V")

ConfigResource: TypeAlias = tuple[int, str]
"""Resource type, and the name of the resource."""
QuotaEntity: TypeAlias = tuple[tuple[str, str | None], ...]
"""Types and names of what a quota is for, sorted by type; a name of None is the default's."""


@dataclass(slots=True)
class PartitionImage:
    replicas: list[int]
    isr: list[int]
    leader: int
    leader_epoch: int
    partition_epoch: int
    eligible_leaders: list[int] = field(default_factory=list)
    """Outside the ISR, but fit to lead (KIP-966)."""
    last_eligible_leaders: list[int] = field(default_factory=list)
    adding: list[int] = field(default_factory=list)
    removing: list[int] = field(default_factory=list)
    directories: list[bytes] = field(default_factory=list)
    """Ids of the log directories of the replicas, in their order; empty if not known."""
    recovery_state: int = 0

    @property
    def has_eligible_leaders(self) -> bool:
        """Whether brokers outside the ISR are known to be fit to lead."""
        return bool(self.eligible_leaders or self.last_eligible_leaders)


@dataclass(slots=True)
class TopicImage:
    name: str
    topic_id: bytes
    partitions: dict[int, PartitionImage] = field(default_factory=dict)


class MetadataImage:
    """The state by the records replayed so far."""

    def __init__(self) -> None:
        self.features: dict[str, int] = {}
        self.topics: dict[bytes, TopicImage] = {}
        self.configs: dict[ConfigResource, dict[str, str]] = {}
        """The configs that each resource sets itself: config name to text."""
        self.quotas: dict[QuotaEntity, dict[str, float]] = {}
        self.scram: dict[str, dict[int, UserScramCredentialRecord]] = {}
        """Users, to their credentials by mechanism."""
        self.acls: dict[bytes, AccessControlEntryRecord] = {}
        self.tokens: dict[str, DelegationTokenRecord] = {}
        self.brokers: dict[int, RegisterBrokerRecord] = {}
        self.controllers: dict[int, RegisterControllerRecord] = {}
        self.next_producer_id = 0
        self.zk_migration_state: int | None = None
        """None from 4.0 on, which knows of no migration from ZooKeeper."""
        self.kraft_version = 0
        self.voters: KRaftVoters | None = None
        self.is_partial = False
        """Whether there were records that are not known here: a snapshot would lose them."""
        self._transaction: list[MetadataRecord] | None = None

    @property
    def is_in_transaction(self) -> bool:
        return self._transaction is not None

    def configs_of(self, resource_type: int, name: str) -> Mapping[str, str]:
        """The configs that one resource sets itself: config name to text."""
        return self.configs.get((resource_type, name), {})

    def replay(self, record: MetadataRecord, delta: MetadataDelta | None = None) -> None:
        """Take in the next record, and note in `delta` what it touches."""
        delta = MetadataDelta() if delta is None else delta
        if isinstance(record, BeginTransactionRecord):
            self._transaction = []
        elif isinstance(record, AbortTransactionRecord):
            self._transaction = None
        elif isinstance(record, EndTransactionRecord):
            waiting, self._transaction = self._transaction or [], None
            for each in waiting:
                self._apply(each, delta)
        elif self._transaction is not None:
            self._transaction.append(record)
        else:
            self._apply(record, delta)

    def replay_control(self, record: ControlRecord, delta: MetadataDelta | None = None) -> None:
        """Take in the quorum's own records: how it is kept, and who votes."""
        if isinstance(record, KRaftVersion):
            self.kraft_version = record.kraft_version
            if delta is not None:
                delta.features[KRAFT_VERSION] = None
        elif isinstance(record, KRaftVoters):
            self.voters = record

    def _apply(self, record: MetadataRecord, delta: MetadataDelta) -> None:
        match record:
            case TopicRecord():
                topic = TopicImage(record.name, record.topic_id)
                self.topics[record.topic_id] = delta.created[record.topic_id] = topic
            case PartitionRecord():
                self._add_partition(record, delta)
            case PartitionChangeRecord():
                self._change_partition(record, delta)
            case RemoveTopicRecord():
                removed = self.topics.pop(record.topic_id, None)
                if removed is not None:
                    self.configs.pop((TOPIC_RESOURCE, removed.name), None)
                    delta.topic_removed(removed)
            case ConfigRecord():
                resource = (record.resource_type, record.resource_name)
                _set(self.configs, resource, record.name, record.value)
                delta.configs[resource] = None
            case FeatureLevelRecord():
                self._set_level(record, delta)
            case ProducerIdsRecord():
                self.next_producer_id = record.next_producer_id
                delta.has_producer_ids = True
            case ClearElrRecord():
                self._clear_eligible_leaders(record.topic_name, delta)
            case ZkMigrationStateRecord():
                self.zk_migration_state = record.zk_migration_state
            case _ if not self._apply_security(record, delta):
                self._apply_registration(record, delta)

    def _set_level(self, record: FeatureLevelRecord, delta: MetadataDelta) -> None:
        if record.feature_level:
            self.features[record.name] = record.feature_level
        else:
            self.features.pop(record.name, None)
        delta.features[record.name] = None

    # Topics

    def _add_partition(self, record: PartitionRecord, delta: MetadataDelta) -> None:
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
            eligible_leaders=record.eligible_leader_replicas or [],
            last_eligible_leaders=record.last_known_elr or [],
            adding=record.adding_replicas,
            removing=record.removing_replicas,
            directories=record.directories,
            recovery_state=record.leader_recovery_state,
        )
        delta.partition_changed(record.topic_id, record.partition_id)

    def _change_partition(self, record: PartitionChangeRecord, delta: MetadataDelta) -> None:
        topic = self.topics.get(record.topic_id)
        partition = topic.partitions.get(record.partition_id) if topic is not None else None
        if partition is None:
            log.warning("metadata log: a change of an unknown partition: %r", record)
            return
        delta.partition_changed(record.topic_id, record.partition_id)
        partition.partition_epoch += 1
        if record.leader != _LEADER_UNCHANGED:
            partition.leader = record.leader
            partition.leader_epoch += 1
        if record.leader_recovery_state >= 0:
            partition.recovery_state = record.leader_recovery_state
        for name, change in (
            ("isr", record.isr),
            ("replicas", record.replicas),
            ("adding", record.adding_replicas),
            ("removing", record.removing_replicas),
            ("directories", record.directories),
            ("eligible_leaders", record.eligible_leader_replicas),
            ("last_eligible_leaders", record.last_known_elr),
        ):
            if change is not None:
                setattr(partition, name, change)

    def _clear_eligible_leaders(self, topic_name: str, delta: MetadataDelta) -> None:
        for topic in self.topics.values():
            if topic_name in ("", topic.name):
                for index, partition in topic.partitions.items():
                    partition.eligible_leaders, partition.last_eligible_leaders = [], []
                    delta.partition_changed(topic.topic_id, index)

    # Users

    def _apply_security(self, record: MetadataRecord, delta: MetadataDelta) -> bool:
        """Whether the record was one of quotas, credentials, access rules or tokens."""
        match record:
            case ClientQuotaRecord():
                names = {each.entity_type: each.entity_name for each in record.entity}
                entity = tuple(sorted(names.items()))
                _set(self.quotas, entity, record.key, None if record.remove else record.value)
                delta.quotas[entity] = None
            case UserScramCredentialRecord():
                _set(self.scram, record.name, record.mechanism, record)
                delta.credentials[record.name] = None
            case RemoveUserScramCredentialRecord():
                _set(self.scram, record.name, record.mechanism, None)
                delta.credentials[record.name] = None
            case AccessControlEntryRecord():
                self.acls[record.id] = record
                delta.acls[record.id] = None
            case RemoveAccessControlEntryRecord():
                self.acls.pop(record.id, None)
                delta.acls[record.id] = None
            case DelegationTokenRecord():
                self.tokens[record.token_id] = record
                delta.tokens[record.token_id] = None
            case RemoveDelegationTokenRecord():
                self.tokens.pop(record.token_id, None)
                delta.tokens[record.token_id] = None
            case _:
                return False
        return True

    # Nodes

    def _apply_registration(self, record: MetadataRecord, delta: MetadataDelta) -> None:
        match record:
            case RegisterControllerRecord():
                self.controllers[record.controller_id] = record
                delta.controllers[record.controller_id] = None
            case RegisterBrokerRecord():
                self.brokers[record.broker_id] = record
                delta.brokers[record.broker_id] = None
            case UnregisterBrokerRecord():
                self.brokers.pop(record.broker_id, None)
                delta.brokers[record.broker_id] = None
            case FenceBrokerRecord() | UnfenceBrokerRecord():
                if record.id in self.brokers:
                    self.brokers[record.id].fenced = isinstance(record, FenceBrokerRecord)
                    delta.brokers[record.id] = None
            case BrokerRegistrationChangeRecord():
                self._change_broker(record, delta)

    def _change_broker(self, record: BrokerRegistrationChangeRecord, delta: MetadataDelta) -> None:
        broker = self.brokers.get(record.broker_id)
        if broker is None:
            log.warning("metadata log: a change of an unknown broker: %r", record)
            return
        delta.brokers[record.broker_id] = None
        if record.fenced:
            broker.fenced = record.fenced == _YES
        if record.in_controlled_shutdown:
            broker.in_controlled_shutdown = record.in_controlled_shutdown == _YES
        if record.log_dirs:
            broker.log_dirs = record.log_dirs
        if record.cordoned_log_dirs is not None:
            broker.cordoned_log_dirs = record.cordoned_log_dirs


def _set(owners: dict[K, dict[N, V]], owner: K, name: N, value: V | None) -> None:
    """Set or, with None, remove one value of an owner; an owner without values is removed."""
    values = owners.setdefault(owner, {})
    if value is None:
        values.pop(name, None)
    else:
        values[name] = value
    if not values:
        del owners[owner]
