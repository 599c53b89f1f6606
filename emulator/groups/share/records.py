"""The records of a share group (KIP-932), before they are encoded.

A record type is its number in `__consumer_offsets`; a null value deletes what the key names. They
are written in this order (semantics N26): a member 10, the group 11, targets 13 and 12, a member's
assignment 14, the partitions that have a state 15; when a member leaves 14, 13, 10, 11.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ....wire.stored import share_groups as stored
from ...base.java_order import id_order, int_order
from ..modern.records import GroupRecords, tombstones
from ..records import MessageRecord
from .members import Assignment, ordered

RECORDS = GroupRecords(
    group=(stored.ShareGroupMetadataKey, stored.ShareGroupMetadataValue),
    member=(stored.ShareGroupMemberMetadataKey, stored.ShareGroupMemberMetadataValue),
    target_epoch=(
        stored.ShareGroupTargetAssignmentMetadataKey,
        stored.ShareGroupTargetAssignmentMetadataValue,
    ),
    target=(
        stored.ShareGroupTargetAssignmentMemberKey,
        stored.ShareGroupTargetAssignmentMemberValue,
    ),
    current=(
        stored.ShareGroupCurrentMemberAssignmentKey,
        stored.ShareGroupCurrentMemberAssignmentValue,
    ),
    others={
        stored.ShareGroupStatePartitionMetadataKey: stored.ShareGroupStatePartitionMetadataValue
    },
)


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


def target_value(target: Assignment) -> stored.ShareGroupTargetAssignmentMemberValue:
    """13: the target of a member."""
    part = stored.ShareGroupTargetAssignmentMemberValue.TopicPartition
    return stored.ShareGroupTargetAssignmentMemberValue(
        topic_partitions=[part(topic_id=t, partitions=p) for t, p in ordered(target)]
    )


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


def group_tombstones(group_id: str) -> list[MessageRecord]:
    """All records of a group without members, deleted: 12, 15 and 11."""
    state_key = stored.ShareGroupStatePartitionMetadataKey
    return tombstones(group_id, RECORDS.target_epoch_key, state_key, RECORDS.group_key)
