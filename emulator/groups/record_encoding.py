"""Coordinator records as Kafka's bytes, and back.

    key    int16 record type (1 offset, 2 group), then the fields of the type
    value  int16 version, then the fields of that version; null is a tombstone

Written as 4.3 writes them: group values in v3, offsets in v4 with the topic's id, or in v1 when the
client asked for a retention of its own; those of consumer groups (KIP-848) in v0. Read in every
version. Records of other types (share and streams groups) are passed over.
"""

from __future__ import annotations

from ...wire import WireError
from ...wire.records import NewRecord
from ...wire.records import Record as StoredRecord
from ...wire.stored.groups import GroupMetadataKey, GroupMetadataValue
from ...wire.stored.keyed import keyed, read_key, read_value
from ...wire.stored.offsets import OffsetCommitKey, OffsetCommitValue
from .consumer.records import KEYS, VALUES, Stored
from .records import GroupRecord, MemberRecord, OffsetRecord, Record, Tombstone

_OFFSET_TYPE, _GROUP_TYPE = 1, 2
_GROUP_VERSION = 3
_CONSUMER_VERSION = 0
_OFFSET_VERSION, _OFFSET_VERSION_WITH_EXPIRY = 4, 1


def encode(record: Record, now: int) -> NewRecord:
    """Key and value of a record, stamped with the time of writing."""
    match record:
        case GroupRecord():
            key = keyed(GroupMetadataKey(group=record.group_id), _GROUP_TYPE)
            return NewRecord(now, key, keyed(_group_value(record), _GROUP_VERSION))
        case OffsetRecord():
            own = record.expire_timestamp is not None
            version = _OFFSET_VERSION_WITH_EXPIRY if own else _OFFSET_VERSION
            key = _offset_key(record.group_id, record.topic, record.partition)
            return NewRecord(now, key, keyed(_offset_value(record), version))
        case Tombstone(group_id, None):
            return NewRecord(now, keyed(GroupMetadataKey(group=group_id), _GROUP_TYPE), None)
        case Tombstone(group_id, str(topic), partition):
            return NewRecord(now, _offset_key(group_id, topic, partition), None)
        case Stored(key_, value):
            stored = None if value is None else keyed(value, _CONSUMER_VERSION)
            return NewRecord(now, keyed(key_, key_.first_type), stored)
    raise TypeError(f"not a coordinator's record: {record!r}")


def decode(stored: StoredRecord) -> Record | None:
    """The record that these bytes are; None for one of another kind of group.

    Raises WireError for bytes that are no coordinator's record.
    """
    if stored.key is None or len(stored.key) < 2:
        raise WireError(f"record {stored.offset} of __consumer_offsets has no key")
    record_type = int.from_bytes(stored.key[:2], "big")
    if record_type in VALUES:
        of_type, _ = read_key(KEYS, stored.key)
        if stored.value is None:
            return Stored(of_type, None)
        return Stored(of_type, read_value(VALUES[record_type], stored.value, newer=True)[0])
    if record_type > _GROUP_TYPE:
        return None
    key, _ = read_key((OffsetCommitKey, GroupMetadataKey), stored.key)
    if isinstance(key, OffsetCommitKey):
        if stored.value is None:
            return Tombstone(key.group, key.topic, key.partition)
        return _offset_record(key, read_value(OffsetCommitValue, stored.value)[0])
    assert isinstance(key, GroupMetadataKey)
    if stored.value is None:
        return Tombstone(key.group)
    return _group_record(key.group, read_value(GroupMetadataValue, stored.value)[0])


def _offset_key(group_id: str, topic: str, partition: int) -> bytes:
    return keyed(OffsetCommitKey(group=group_id, topic=topic, partition=partition), _OFFSET_TYPE)


def _offset_value(record: OffsetRecord) -> OffsetCommitValue:
    return OffsetCommitValue(
        offset=record.offset,
        leader_epoch=record.leader_epoch,
        metadata=record.metadata,
        commit_timestamp=record.commit_timestamp,
        expire_timestamp=-1 if record.expire_timestamp is None else record.expire_timestamp,
        topic_id=record.topic_id,
    )


def _offset_record(key: OffsetCommitKey, value: OffsetCommitValue) -> OffsetRecord:
    return OffsetRecord(
        group_id=key.group,
        topic=key.topic,
        partition=key.partition,
        offset=value.offset,
        leader_epoch=value.leader_epoch,
        metadata=value.metadata,
        commit_timestamp=value.commit_timestamp,
        expire_timestamp=None if value.expire_timestamp == -1 else value.expire_timestamp,
        topic_id=value.topic_id,
    )


def _group_value(record: GroupRecord) -> GroupMetadataValue:
    return GroupMetadataValue(
        protocol_type=record.protocol_type,
        generation=record.generation,
        protocol=record.protocol_name,
        leader=record.leader,
        current_state_timestamp=(-1 if record.state_timestamp is None else record.state_timestamp),
        members=[
            GroupMetadataValue.MemberMetadata(
                member_id=member.member_id,
                group_instance_id=member.instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                rebalance_timeout=member.rebalance_timeout_ms,
                session_timeout=member.session_timeout_ms,
                subscription=member.subscription,
                assignment=member.assignment,
            )
            for member in record.members
        ],
    )


def _group_record(group_id: str, value: GroupMetadataValue) -> GroupRecord:
    when = value.current_state_timestamp
    return GroupRecord(
        group_id=group_id,
        protocol_type=value.protocol_type,
        generation=value.generation,
        protocol_name=value.protocol,
        leader=value.leader,
        state_timestamp=None if when == -1 else when,
        members=tuple(
            MemberRecord(
                member_id=member.member_id,
                instance_id=member.group_instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                # Before v1 one timeout was both.
                rebalance_timeout_ms=(
                    member.session_timeout
                    if member.rebalance_timeout == -1
                    else member.rebalance_timeout
                ),
                session_timeout_ms=member.session_timeout,
                subscription=member.subscription,
                assignment=member.assignment,
            )
            for member in value.members
        ),
    )
