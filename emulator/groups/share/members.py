"""A member of a share group (KIP-932): what it has reported of itself, and what it is assigned; and
the records of a group.

It has no partitions to give up: its target holds at once, and several members may have the same
partition.

A record type is its number in `__consumer_offsets`; a null value deletes what the key names. They
are written in this order (semantics N26): a member 10, the group 11, targets 13 and 12, a member's
assignment 14, the partitions that have a state 15; when a member leaves 14, 13, 10, 11.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ....wire.stored import share_groups as stored
from ....wire.stored.share_groups import ShareGroupCurrentMemberAssignmentValue as CurrentValue
from ....wire.stored.share_groups import ShareGroupMemberMetadataValue as MemberValue
from ...base.java_order import id_order, int_order
from ..modern.member import ModernMember
from ..modern.records import GroupRecords, tombstones
from ..records import MessageRecord

Assignment = Mapping[bytes, frozenset[int]]
"""Partitions by topic id."""


@dataclass(frozen=True, slots=True)
class ShareMember(ModernMember[Assignment]):
    previous_epoch: int = -1
    names: frozenset[str] = frozenset()

    def reported_value(self) -> MemberValue:
        """The value of its record 10."""
        return MemberValue(
            rack_id=self.rack_id,
            client_id=self.client_id,
            client_host=self.client_host,
            subscribed_topic_names=sorted(self.names),
        )

    def with_reported(self, value: MemberValue) -> ShareMember:
        """The member with the value of record 10; its partitions stay."""
        return replace(
            self,
            rack_id=value.rack_id,
            client_id=value.client_id,
            client_host=value.client_host,
            names=frozenset(value.subscribed_topic_names),
        )

    def current_value(self) -> CurrentValue:
        """The value of its record 14."""
        return CurrentValue(
            member_epoch=self.epoch,
            previous_member_epoch=self.previous_epoch,
            state=self.state,
            assigned_partitions=[
                CurrentValue.TopicPartitions(topic_id=topic, partitions=parts)
                for topic, parts in ordered(self.assigned)
            ],
        )

    def with_current(self, value: CurrentValue) -> ShareMember:
        """The member with the value of record 14."""
        return replace(
            self,
            epoch=value.member_epoch,
            previous_epoch=value.previous_member_epoch,
            assigned=restored(value.assigned_partitions),
        )


def ordered(held: Assignment) -> Iterable[tuple[bytes, list[int]]]:
    """Topics and partitions in the order in which Kafka writes them."""
    return ((topic, int_order(held[topic])) for topic in id_order(held))


def restored(topics: Iterable[Any]) -> Assignment:
    return {each.topic_id: frozenset(each.partitions) for each in topics}


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
    """The member of record 15, replayed now."""

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
