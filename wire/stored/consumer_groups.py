"""Consumer groups (KIP-848), as `__consumer_offsets` keeps them: keys and values of its records.

A key begins with its record type, a value with its version (keyed.py). A null value deletes what
the key names. The records of one group, in the order in which a new member causes them:

    5   a member         16  the topics that a regular expression of it matches
    3   the group        6, 7  the target assignment, and each member's part of it
    8   each member's current assignment

Type 4 was written up to 4.0, when groups still kept the partitions of their topics.
"""

from __future__ import annotations

from ..schema import EMPTY, UUID, Message, Struct, i8, i32, i64, tag
from .keyed import Key


class ConsumerGroupMetadataKey(Key, record_types="3", versions="0"):
    """The group."""

    group_id: str


class ConsumerGroupMetadataValue(Message, versions="0", flexible="0+"):
    """The group's epoch, and a hash of the topics it reads."""

    epoch: i32
    metadata_hash: i64 = tag(0, "0+", default=0)


class ConsumerGroupPartitionMetadataKey(Key, record_types="4", versions="0"):
    """The group."""

    group_id: str


class ConsumerGroupPartitionMetadataValue(Message, versions="0", flexible="0+"):
    """The topics it reads, and the racks of their partitions."""

    topics: list[Topic]

    class Topic(Struct):
        topic_id: UUID
        topic_name: str
        num_partitions: i32
        partition_metadata: list[Partition]

        class Partition(Struct):
            partition: i32
            racks: list[str]


class ConsumerGroupMemberMetadataKey(Key, record_types="5", versions="0"):
    """The group and the member."""

    group_id: str
    member_id: str


class ConsumerGroupMemberMetadataValue(Message, versions="0", flexible="0+"):
    """The member's client and subscription; with metadata if it speaks the classic protocol."""

    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    subscribed_topic_names: list[str]
    subscribed_topic_regex: str | None
    rebalance_timeout_ms: i32 = -1
    server_assignor: str | None
    classic_member_metadata: ClassicMemberMetadata | None = tag(0, "0+", default=EMPTY)

    class ClassicMemberMetadata(Struct):
        session_timeout_ms: i32
        supported_protocols: list[ClassicProtocol]

        class ClassicProtocol(Struct):
            name: str
            metadata: bytes


class ConsumerGroupTargetAssignmentMetadataKey(Key, record_types="6", versions="0"):
    """The group."""

    group_id: str


class ConsumerGroupTargetAssignmentMetadataValue(Message, versions="0", flexible="0+"):
    """The epoch of the target assignment, and when that was computed (ms)."""

    assignment_epoch: i32
    assignment_timestamp: i64 = tag(0, "0+", default=0)


class ConsumerGroupTargetAssignmentMemberKey(Key, record_types="7", versions="0"):
    """The group and the member."""

    group_id: str
    member_id: str


class ConsumerGroupTargetAssignmentMemberValue(Message, versions="0", flexible="0+"):
    """The member's target assignment."""

    topic_partitions: list[TopicPartition]

    class TopicPartition(Struct):
        topic_id: UUID
        partitions: list[i32]


class ConsumerGroupCurrentMemberAssignmentKey(Key, record_types="8", versions="0"):
    """The group and the member."""

    group_id: str
    member_id: str


class ConsumerGroupCurrentMemberAssignmentValue(Message, versions="0", flexible="0+"):
    """The member's epoch and state, what it has, and what it has not given up yet."""

    member_epoch: i32
    previous_member_epoch: i32
    state: i8
    assigned_partitions: list[TopicPartitions]
    partitions_pending_revocation: list[TopicPartitions]

    class TopicPartitions(Struct):
        topic_id: UUID
        partitions: list[i32]
        assignment_epochs: list[i32] | None = tag(0, "0+", default=[])


class ConsumerGroupRegularExpressionKey(Key, record_types="16", versions="0"):
    """The group and the regular expression."""

    group_id: str
    regular_expression: str


class ConsumerGroupRegularExpressionValue(Message, versions="0", flexible="0+"):
    """The topics it matched, in which version of the cluster's metadata, and when (ms)."""

    topics: list[str]
    version: i64
    timestamp: i64
