"""The records of a consumer group (KIP-848), before they are encoded.

A record type is its number in `__consumer_offsets`; a null value deletes what the key names. They
are written in this order (semantics F3, G27): a member 5, the group 3, targets 7 and 6, a member's
assignment 8; when it leaves 8, 7, 5, 3. The topics of a regular expression are 16. Type 4 is only
written to delete it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ....wire.stored import consumer_groups as stored
from ....wire.stored.keyed import Key
from ..records import MessageRecord, message_decoders
from .members import Assignment, ConsumerMember, current_value, member_value

DECODERS = message_decoders(
    {
        stored.ConsumerGroupMetadataKey: stored.ConsumerGroupMetadataValue,
        stored.ConsumerGroupPartitionMetadataKey: stored.ConsumerGroupPartitionMetadataValue,
        stored.ConsumerGroupMemberMetadataKey: stored.ConsumerGroupMemberMetadataValue,
        stored.ConsumerGroupTargetAssignmentMetadataKey: (
            stored.ConsumerGroupTargetAssignmentMetadataValue
        ),
        stored.ConsumerGroupTargetAssignmentMemberKey: (
            stored.ConsumerGroupTargetAssignmentMemberValue
        ),
        stored.ConsumerGroupCurrentMemberAssignmentKey: (
            stored.ConsumerGroupCurrentMemberAssignmentValue
        ),
        stored.ConsumerGroupRegularExpressionKey: stored.ConsumerGroupRegularExpressionValue,
    }
)


class ResolvedRegex(NamedTuple):
    """The topics that a regular expression matched, in a version of the metadata, at a time."""

    topics: frozenset[str]
    version: int
    timestamp: int


def group_record(group_id: str, epoch: int, metadata_hash: int) -> MessageRecord:
    """3: the group's epoch, and a hash of the topics it reads."""
    key = stored.ConsumerGroupMetadataKey(group_id=group_id)
    return MessageRecord(
        key, stored.ConsumerGroupMetadataValue(epoch=epoch, metadata_hash=metadata_hash)
    )


def member_record(group_id: str, member: ConsumerMember) -> MessageRecord:
    """5: what a member has reported of itself."""
    key = stored.ConsumerGroupMemberMetadataKey(group_id=group_id, member_id=member.member_id)
    return MessageRecord(key, member_value(member))


def target_epoch_record(group_id: str, epoch: int, timestamp: int) -> MessageRecord:
    """6: the epoch of the target assignment, and when it was computed."""
    key = stored.ConsumerGroupTargetAssignmentMetadataKey(group_id=group_id)
    value = stored.ConsumerGroupTargetAssignmentMetadataValue(
        assignment_epoch=epoch, assignment_timestamp=timestamp
    )
    return MessageRecord(key, value)


def target_record(group_id: str, member_id: str, target: Assignment) -> MessageRecord:
    """7: the target of a member."""
    key = stored.ConsumerGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id)
    part = stored.ConsumerGroupTargetAssignmentMemberValue.TopicPartition
    partitions = [part(topic_id=t, partitions=sorted(parts)) for t, parts in target.items()]
    return MessageRecord(
        key, stored.ConsumerGroupTargetAssignmentMemberValue(topic_partitions=partitions)
    )


def current_record(group_id: str, member: ConsumerMember) -> MessageRecord:
    """8: what a member has."""
    key = stored.ConsumerGroupCurrentMemberAssignmentKey(
        group_id=group_id, member_id=member.member_id
    )
    return MessageRecord(key, current_value(member))


def regex_record(group_id: str, regex: str, resolved: ResolvedRegex) -> MessageRecord:
    """16: the topics that a regular expression matches."""
    key = stored.ConsumerGroupRegularExpressionKey(group_id=group_id, regular_expression=regex)
    value = stored.ConsumerGroupRegularExpressionValue(
        topics=sorted(resolved.topics), version=resolved.version, timestamp=resolved.timestamp
    )
    return MessageRecord(key, value)


def regex_tombstone(group_id: str, regex: str) -> MessageRecord:
    """16, deleted: nobody subscribes to it any more."""
    key = stored.ConsumerGroupRegularExpressionKey(group_id=group_id, regular_expression=regex)
    return MessageRecord(key, None)


def partition_metadata_tombstone(group_id: str) -> MessageRecord:
    """4, deleted: a broker before 4.1 wrote it."""
    return MessageRecord(stored.ConsumerGroupPartitionMetadataKey(group_id=group_id), None)


def member_tombstones(group_id: str, member_id: str) -> list[MessageRecord]:
    """8, 7 and 5 of one member, deleted."""
    return [
        MessageRecord(key(group_id=group_id, member_id=member_id), None)
        for key in (
            stored.ConsumerGroupCurrentMemberAssignmentKey,
            stored.ConsumerGroupTargetAssignmentMemberKey,
            stored.ConsumerGroupMemberMetadataKey,
        )
    ]


def group_tombstones(
    group_id: str, member_ids: Iterable[str], regexes: Iterable[str]
) -> list[MessageRecord]:
    """All records of a group, deleted: 8, 7, 6, 5, 16, 4 and 3."""
    members = list(member_ids)
    current = stored.ConsumerGroupCurrentMemberAssignmentKey
    target = stored.ConsumerGroupTargetAssignmentMemberKey
    told = stored.ConsumerGroupMemberMetadataKey
    keys: list[Key] = [current(group_id=group_id, member_id=member) for member in members]
    keys += [target(group_id=group_id, member_id=member) for member in members]
    keys.append(stored.ConsumerGroupTargetAssignmentMetadataKey(group_id=group_id))
    keys += [told(group_id=group_id, member_id=member) for member in members]
    gone = [MessageRecord(key, None) for key in keys]
    gone += [regex_tombstone(group_id, regex) for regex in regexes]
    gone.append(partition_metadata_tombstone(group_id))
    gone.append(MessageRecord(stored.ConsumerGroupMetadataKey(group_id=group_id), None))
    return gone


def restored_target(value: stored.ConsumerGroupTargetAssignmentMemberValue) -> Assignment:
    """The target in record 7."""
    target: Mapping[bytes, frozenset[int]] = {
        topic.topic_id: frozenset(topic.partitions) for topic in value.topic_partitions
    }
    return target
