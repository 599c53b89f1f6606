"""Share groups (KIP-932), as `__consumer_offsets` keeps them: keys and values of its records.

A key begins with its record type, a value with its version (keyed.py). A null value deletes what
the key names. The position of a group in each partition is kept elsewhere (share_state.py).

Type 9, a draft that type 15 replaced before share groups were released, is left out.
"""

from __future__ import annotations

from ..schema import UUID, Message, Struct, i8, i32, i64, tag
from .keyed import Key


class ShareGroupMemberMetadataKey(Key, record_types="10", versions="0"):
    """The group and the member."""

    group_id: str
    member_id: str


class ShareGroupMemberMetadataValue(Message, versions="0", flexible="0+"):
    """The member's client, and what it subscribes to."""

    rack_id: str | None
    client_id: str
    client_host: str
    subscribed_topic_names: list[str]


class ShareGroupMetadataKey(Key, record_types="11", versions="0"):
    """The group."""

    group_id: str


class ShareGroupMetadataValue(Message, versions="0", flexible="0+"):
    """The group's epoch, and a hash of the topics it reads."""

    epoch: i32
    metadata_hash: i64


class ShareGroupTargetAssignmentMetadataKey(Key, record_types="12", versions="0"):
    """The group."""

    group_id: str


class ShareGroupTargetAssignmentMetadataValue(Message, versions="0", flexible="0+"):
    """The epoch of the target assignment, and when that was computed (ms)."""

    assignment_epoch: i32
    assignment_timestamp: i64 = tag(0, "0+", default=0)


class ShareGroupTargetAssignmentMemberKey(Key, record_types="13", versions="0"):
    """The group and the member."""

    group_id: str
    member_id: str


class ShareGroupTargetAssignmentMemberValue(Message, versions="0", flexible="0+"):
    """The member's target assignment."""

    topic_partitions: list[TopicPartition]

    class TopicPartition(Struct):
        topic_id: UUID
        partitions: list[i32]


class ShareGroupCurrentMemberAssignmentKey(Key, record_types="14", versions="0"):
    """The group and the member."""

    group_id: str
    member_id: str


class ShareGroupCurrentMemberAssignmentValue(Message, versions="0", flexible="0+"):
    """The member's epoch and state, and what it has."""

    member_epoch: i32
    previous_member_epoch: i32
    state: i8
    assigned_partitions: list[TopicPartitions]

    class TopicPartitions(Struct):
        topic_id: UUID
        partitions: list[i32]


class ShareGroupStatePartitionMetadataKey(Key, record_types="15", versions="0"):
    """The group."""

    group_id: str


class ShareGroupStatePartitionMetadataValue(Message, versions="0", flexible="0+"):
    """The partitions whose state is being created, exists, and is being deleted."""

    initializing_topics: list[TopicPartitionsInfo]
    initialized_topics: list[TopicPartitionsInfo]
    deleting_topics: list[TopicInfo]

    class TopicPartitionsInfo(Struct):
        topic_id: UUID
        topic_name: str
        partitions: list[i32]

    class TopicInfo(Struct):
        topic_id: UUID
        topic_name: str
