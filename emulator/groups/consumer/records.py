"""The records of a consumer group (KIP-848), before they are encoded.

A record type is its number in `__consumer_offsets`; a null value deletes what the key names. They
are written in this order (semantics F3, G27): a member 5, the group 3, targets 7 and 6, a member's
assignment 8; when it leaves 8, 7, 5, 3. The topics of a regular expression are 16. Type 4 is only
written to delete it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ....wire.stored import consumer_groups as stored
from ..modern.records import GroupRecords, tombstones
from ..records import MessageRecord
from .members import Assignment

RECORDS = GroupRecords(
    group=(stored.ConsumerGroupMetadataKey, stored.ConsumerGroupMetadataValue),
    member=(stored.ConsumerGroupMemberMetadataKey, stored.ConsumerGroupMemberMetadataValue),
    target_epoch=(
        stored.ConsumerGroupTargetAssignmentMetadataKey,
        stored.ConsumerGroupTargetAssignmentMetadataValue,
    ),
    target=(
        stored.ConsumerGroupTargetAssignmentMemberKey,
        stored.ConsumerGroupTargetAssignmentMemberValue,
    ),
    current=(
        stored.ConsumerGroupCurrentMemberAssignmentKey,
        stored.ConsumerGroupCurrentMemberAssignmentValue,
    ),
    others={
        stored.ConsumerGroupPartitionMetadataKey: stored.ConsumerGroupPartitionMetadataValue,
        stored.ConsumerGroupRegularExpressionKey: stored.ConsumerGroupRegularExpressionValue,
    },
)


class ResolvedRegex(NamedTuple):
    """The topics that a regular expression matched, in a version of the metadata, at a time."""

    topics: frozenset[str]
    version: int
    timestamp: int


def target_value(target: Assignment) -> stored.ConsumerGroupTargetAssignmentMemberValue:
    """7: the target of a member."""
    part = stored.ConsumerGroupTargetAssignmentMemberValue.TopicPartition
    return stored.ConsumerGroupTargetAssignmentMemberValue(
        topic_partitions=[part(topic_id=t, partitions=sorted(parts)) for t, parts in target.items()]
    )


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


def group_tombstones(
    group_id: str, member_ids: Iterable[str], regexes: Iterable[str]
) -> list[MessageRecord]:
    """All records of a group, deleted: 8, 7, 6, 5, 16, 4 and 3."""
    members = [RECORDS.member_tombstones(group_id, member_id) for member_id in member_ids]
    return [
        *(current for current, _, _ in members),
        *(target for _, target, _ in members),
        *tombstones(group_id, RECORDS.target_epoch_key),
        *(member for _, _, member in members),
        *(regex_tombstone(group_id, regex) for regex in regexes),
        *tombstones(group_id, stored.ConsumerGroupPartitionMetadataKey, RECORDS.group_key),
    ]
