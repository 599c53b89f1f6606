"""The records of a share group (KIP-932), before they are encoded.

A record type is its number in `__consumer_offsets`; a null value deletes what the key names. They
are written in this order (semantics N26): a member 10, the group 11, targets 13 and 12, a member's
assignment 14, the partitions that have a state 15; when a member leaves 14, 13, 10, 11.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ....wire.stored import share_groups as stored
from ....wire.stored.keyed import Key
from ...base.java_order import id_order, int_order
from ..records import MessageRecord, message_decoders
from .members import Assignment, ShareMember

DECODERS = message_decoders(
    {
        stored.ShareGroupMemberMetadataKey: stored.ShareGroupMemberMetadataValue,
        stored.ShareGroupMetadataKey: stored.ShareGroupMetadataValue,
        stored.ShareGroupTargetAssignmentMetadataKey: (
            stored.ShareGroupTargetAssignmentMetadataValue
        ),
        stored.ShareGroupTargetAssignmentMemberKey: stored.ShareGroupTargetAssignmentMemberValue,
        stored.ShareGroupCurrentMemberAssignmentKey: stored.ShareGroupCurrentMemberAssignmentValue,
        stored.ShareGroupStatePartitionMetadataKey: stored.ShareGroupStatePartitionMetadataValue,
    }
)
_STABLE = 0


class TopicState(NamedTuple):
    """The partitions of a topic whose state is being initialised, or is; `since` (ms) is when that
    was written last."""

    name: str
    partitions: frozenset[int]
    since: int = 0


class StatePartitions(NamedTuple):
    """Which partitions have a state, by topic id, and the names of topics whose state is being
    deleted."""

    initializing: Mapping[bytes, TopicState]
    initialized: Mapping[bytes, TopicState]
    deleting: Mapping[bytes, str]


NO_STATE = StatePartitions({}, {}, {})


def member_record(group_id: str, member: ShareMember) -> MessageRecord:
    """10: what a member has reported of itself."""
    key = stored.ShareGroupMemberMetadataKey(group_id=group_id, member_id=member.member_id)
    value = stored.ShareGroupMemberMetadataValue(
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.names),
    )
    return MessageRecord(key, value)


def group_record(group_id: str, epoch: int, metadata_hash: int) -> MessageRecord:
    """11: the group's epoch, and a hash of the topics it reads."""
    key = stored.ShareGroupMetadataKey(group_id=group_id)
    value = stored.ShareGroupMetadataValue(epoch=epoch, metadata_hash=metadata_hash)
    return MessageRecord(key, value)


def target_epoch_record(group_id: str, epoch: int, timestamp: int) -> MessageRecord:
    """12: the epoch of the target assignment, and when it was computed."""
    key = stored.ShareGroupTargetAssignmentMetadataKey(group_id=group_id)
    value = stored.ShareGroupTargetAssignmentMetadataValue(
        assignment_epoch=epoch, assignment_timestamp=timestamp
    )
    return MessageRecord(key, value)


def target_record(group_id: str, member_id: str, target: Assignment) -> MessageRecord:
    """13: the target of a member."""
    key = stored.ShareGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id)
    part = stored.ShareGroupTargetAssignmentMemberValue.TopicPartition
    value = stored.ShareGroupTargetAssignmentMemberValue(
        topic_partitions=[part(topic_id=t, partitions=p) for t, p in _ordered(target)]
    )
    return MessageRecord(key, value)


def current_record(group_id: str, member: ShareMember) -> MessageRecord:
    """14: what a member has."""
    key = stored.ShareGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member.member_id)
    part = stored.ShareGroupCurrentMemberAssignmentValue.TopicPartitions
    value = stored.ShareGroupCurrentMemberAssignmentValue(
        member_epoch=member.epoch,
        previous_member_epoch=member.previous_epoch,
        state=_STABLE,
        assigned_partitions=[
            part(topic_id=topic, partitions=parts) for topic, parts in _ordered(member.assigned)
        ],
    )
    return MessageRecord(key, value)


def _ordered(held: Assignment) -> Iterable[tuple[bytes, list[int]]]:
    return ((topic, int_order(held[topic])) for topic in id_order(held))


def state_record(group_id: str, state: StatePartitions) -> MessageRecord:
    """15: which partitions have a state."""
    value = stored.ShareGroupStatePartitionMetadataValue(
        initializing_topics=_topics(state.initializing),
        initialized_topics=_topics(state.initialized),
        deleting_topics=[
            stored.ShareGroupStatePartitionMetadataValue.TopicInfo(
                topic_id=topic_id, topic_name=state.deleting[topic_id]
            )
            for topic_id in id_order(state.deleting)
        ],
    )
    return MessageRecord(stored.ShareGroupStatePartitionMetadataKey(group_id=group_id), value)


def _topics(
    topics: Mapping[bytes, TopicState],
) -> list[stored.ShareGroupStatePartitionMetadataValue.TopicPartitionsInfo]:
    info = stored.ShareGroupStatePartitionMetadataValue.TopicPartitionsInfo
    return [
        info(
            topic_id=topic_id,
            topic_name=topics[topic_id].name,
            partitions=int_order(topics[topic_id].partitions),
        )
        for topic_id in id_order(topics)
    ]


def restored_state(
    value: stored.ShareGroupStatePartitionMetadataValue, now: int
) -> StatePartitions:
    """What record 15 says, replayed now."""

    def read(
        topics: Iterable[stored.ShareGroupStatePartitionMetadataValue.TopicPartitionsInfo],
    ) -> dict[bytes, TopicState]:
        return {
            each.topic_id: TopicState(each.topic_name, frozenset(each.partitions), now)
            for each in topics
        }

    deleting = {each.topic_id: each.topic_name for each in value.deleting_topics}
    return StatePartitions(
        read(value.initializing_topics), read(value.initialized_topics), deleting
    )


def member_tombstones(group_id: str, member_id: str) -> list[MessageRecord]:
    """14, 13 and 10 of one member, deleted."""
    return [
        MessageRecord(key(group_id=group_id, member_id=member_id), None)
        for key in (
            stored.ShareGroupCurrentMemberAssignmentKey,
            stored.ShareGroupTargetAssignmentMemberKey,
            stored.ShareGroupMemberMetadataKey,
        )
    ]


def group_tombstones(group_id: str) -> list[MessageRecord]:
    """All records of a group without members, deleted: 12, 15 and 11."""
    keys: list[Key] = [
        stored.ShareGroupTargetAssignmentMetadataKey(group_id=group_id),
        stored.ShareGroupStatePartitionMetadataKey(group_id=group_id),
        stored.ShareGroupMetadataKey(group_id=group_id),
    ]
    return [MessageRecord(key, None) for key in keys]
