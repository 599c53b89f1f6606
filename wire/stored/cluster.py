"""The records of `__cluster_metadata-0`: the cluster's state, change by change.

    value   uvarint frame version (1), uvarint record type, uvarint record version, body

Source: KIP-746, KIP-631; the record types as Kafka 4.3 has them. Left out: applying them.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ..errors import WireError
from ..primitives import Buffer, read_uvarint, write_uvarint
from ..schema import UUID, Message, Struct, f64, i8, i16, i32, i64, tag, u16, v

FRAME_VERSION = 1

RECORDS: dict[int, type[MetadataRecord]] = {}


class MetadataRecord(Message):
    """A record of the metadata log. Registered by its record type."""

    __slots__ = ()
    record_type: ClassVar[int]

    def __init_subclass__(cls, record_type: int, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.record_type = record_type
        RECORDS[record_type] = cls


def frame_record(message: MetadataRecord, version: int) -> bytes:
    """Return the value of a record. Raises WireError when the message has no such version."""
    head = (FRAME_VERSION, message.record_type, version)
    return b"".join([*map(write_uvarint, head), *message.parts(version)])


def read_record(value: Buffer) -> tuple[MetadataRecord, int]:
    """Decode the value of a record; return the message and its version.

    Raises WireError for damage, for bytes left over, and for record types not known here.
    """
    frame_version, pos = read_uvarint(value, 0)
    if frame_version != FRAME_VERSION:
        raise WireError(f"metadata record of frame version {frame_version}, not {FRAME_VERSION}")
    record_type, pos = read_uvarint(value, pos)
    version, pos = read_uvarint(value, pos)
    if record_type not in RECORDS:
        raise WireError(f"no metadata record of type {record_type} (version {version}) is known")
    message, end = RECORDS[record_type].decode_from(value, version, pos)
    if end != len(value):
        raise WireError(f"{len(value) - end} bytes too many after {type(message).__name__}")
    return message, version


class RegisterBrokerRecord(MetadataRecord, record_type=0, versions="0-4", flexible="0+"):
    """A broker starts. Its epoch is the offset of this record."""

    broker_id: i32
    is_migrating_zk_broker: bool = v("2+", default=False)
    incarnation_id: UUID
    broker_epoch: i64
    end_points: list[Endpoint]
    features: list[Feature]
    rack: str | None
    fenced: bool = True
    in_controlled_shutdown: bool = v("1+", default=False)
    log_dirs: list[UUID] = tag(0, "3+", default=[])
    cordoned_log_dirs: list[UUID] | None = tag(1, "4+", default=None)

    class Endpoint(Struct):
        name: str
        host: str
        port: u16
        security_protocol: i16

    class Feature(Struct):
        name: str
        min_supported_version: i16
        max_supported_version: i16


class UnregisterBrokerRecord(MetadataRecord, record_type=1, versions="0", flexible="0+"):
    """A broker will not come back."""

    broker_id: i32
    broker_epoch: i64


class TopicRecord(MetadataRecord, record_type=2, versions="0", flexible="0+"):
    """A new topic."""

    name: str
    topic_id: UUID


class PartitionRecord(MetadataRecord, record_type=3, versions="0-2", flexible="0+"):
    """A new partition."""

    partition_id: i32 = -1
    topic_id: UUID
    replicas: list[i32]
    isr: list[i32]
    removing_replicas: list[i32]
    adding_replicas: list[i32]
    leader: i32 = -1
    leader_recovery_state: i8 = tag(0, "0+", default=0)
    leader_epoch: i32 = -1
    partition_epoch: i32 = -1
    directories: list[UUID] = v("1+", default=[])
    eligible_leader_replicas: list[i32] | None = tag(1, "2+", default=None)
    last_known_elr: list[i32] | None = tag(2, "2+", default=None)


class ConfigRecord(MetadataRecord, record_type=4, versions="0", flexible="0+"):
    """A config of a resource is set, or removed if the value is null."""

    resource_type: i8
    resource_name: str
    name: str
    value: str | None


class PartitionChangeRecord(MetadataRecord, record_type=5, versions="0-2", flexible="0+"):
    """A partition's changes: leader -2 and null lists mean unchanged."""

    partition_id: i32 = -1
    topic_id: UUID
    isr: list[i32] | None = tag(0, "0+", default=None)
    leader: i32 = tag(1, "0+", default=-2)
    replicas: list[i32] | None = tag(2, "0+", default=None)
    removing_replicas: list[i32] | None = tag(3, "0+", default=None)
    adding_replicas: list[i32] | None = tag(4, "0+", default=None)
    leader_recovery_state: i8 = tag(5, "0+", default=-1)
    directories: list[UUID] | None = tag(8, "1+", default=None)
    eligible_leader_replicas: list[i32] | None = tag(6, "2+", default=None)
    last_known_elr: list[i32] | None = tag(7, "2+", default=None)


class FenceBrokerRecord(MetadataRecord, record_type=7, versions="0", flexible="0+"):
    """A broker may not lead. Replaced by BrokerRegistrationChangeRecord."""

    id: i32
    epoch: i64


class UnfenceBrokerRecord(MetadataRecord, record_type=8, versions="0", flexible="0+"):
    """A broker may lead. Replaced by BrokerRegistrationChangeRecord."""

    id: i32
    epoch: i64


class RemoveTopicRecord(MetadataRecord, record_type=9, versions="0", flexible="0+"):
    """A topic is deleted."""

    topic_id: UUID


class DelegationTokenRecord(MetadataRecord, record_type=10, versions="0", flexible="0+"):
    """A delegation token is created or renewed. Times in ms."""

    owner: str
    requester: str
    renewers: list[str]
    issue_timestamp: i64
    max_timestamp: i64
    expiration_timestamp: i64
    token_id: str


class UserScramCredentialRecord(MetadataRecord, record_type=11, versions="0", flexible="0+"):
    """A user's SCRAM credential."""

    name: str
    mechanism: i8
    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: i32


class FeatureLevelRecord(MetadataRecord, record_type=12, versions="0", flexible="0+"):
    """A feature's level; 0 disables it."""

    name: str
    feature_level: i16


class ClientQuotaRecord(MetadataRecord, record_type=14, versions="0", flexible="0+"):
    """A quota is set or removed."""

    entity: list[Entity]
    key: str
    value: f64
    remove: bool

    class Entity(Struct):
        entity_type: str
        entity_name: str | None


class ProducerIdsRecord(MetadataRecord, record_type=15, versions="0", flexible="0+"):
    """A broker got a block of producer ids; the next block begins at next_producer_id."""

    broker_id: i32
    broker_epoch: i64 = -1
    next_producer_id: i64


class BrokerRegistrationChangeRecord(MetadataRecord, record_type=17, versions="0-3", flexible="0+"):
    """A broker's changes: 1 is yes, -1 no, 0 unchanged."""

    broker_id: i32
    broker_epoch: i64
    fenced: i8 = tag(0, "0+", default=0)
    in_controlled_shutdown: i8 = tag(1, "1+", default=0)
    log_dirs: list[UUID] = tag(2, "2+", default=[])
    cordoned_log_dirs: list[UUID] | None = tag(3, "3+", default=None)


class AccessControlEntryRecord(MetadataRecord, record_type=18, versions="0", flexible="0+"):
    """An access rule."""

    id: UUID
    resource_type: i8
    resource_name: str
    pattern_type: i8
    principal: str
    host: str
    operation: i8
    permission_type: i8


class RemoveAccessControlEntryRecord(MetadataRecord, record_type=19, versions="0", flexible="0+"):
    """An access rule is removed."""

    id: UUID


class NoOpRecord(MetadataRecord, record_type=20, versions="0", flexible="0+"):
    """No change; written so that offsets advance."""


class ZkMigrationStateRecord(MetadataRecord, record_type=21, versions="0", flexible="0+"):
    """The state of a migration from ZooKeeper."""

    zk_migration_state: i8


class RemoveUserScramCredentialRecord(MetadataRecord, record_type=22, versions="0", flexible="0+"):
    """A user's SCRAM credential is removed."""

    name: str
    mechanism: i8


class BeginTransactionRecord(MetadataRecord, record_type=23, versions="0", flexible="0+"):
    """The records up to the next EndTransactionRecord apply together or not at all."""

    name: str | None = tag(0, "0+", default=None)


class EndTransactionRecord(MetadataRecord, record_type=24, versions="0", flexible="0+"):
    """The records since BeginTransactionRecord apply."""


class AbortTransactionRecord(MetadataRecord, record_type=25, versions="0", flexible="0+"):
    """The records since BeginTransactionRecord do not apply."""

    reason: str | None = tag(0, "0+", default=None)


class RemoveDelegationTokenRecord(MetadataRecord, record_type=26, versions="0", flexible="0+"):
    """A delegation token is removed."""

    token_id: str


class RegisterControllerRecord(MetadataRecord, record_type=27, versions="0", flexible="0+"):
    """A controller starts."""

    controller_id: i32
    incarnation_id: UUID
    zk_migration_ready: bool
    end_points: list[Endpoint]
    features: list[Feature]

    class Endpoint(Struct):
        name: str
        host: str
        port: u16
        security_protocol: i16

    class Feature(Struct):
        name: str
        min_supported_version: i16
        max_supported_version: i16


class ClearElrRecord(MetadataRecord, record_type=28, versions="0", flexible="0+"):
    """Eligible leader replicas are cleared; of all topics if the name is empty."""

    topic_name: str
