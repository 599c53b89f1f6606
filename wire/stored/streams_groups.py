"""Streams groups (KIP-1071), as `__consumer_offsets` keeps them: keys and values of its records.

A key begins with its record type, a value with its version (keyed.py). A null value deletes what
the key names. Type 18 was withdrawn while these were a draft.
"""

from __future__ import annotations

from ..schema import Message, Struct, i8, i16, i32, i64, tag, u16
from .keyed import Key


class StreamsGroupMetadataKey(Key, record_types="17", versions="0"):
    """The group."""

    group_id: str


class StreamsGroupMetadataValue(Message, versions="0", flexible="0+"):
    """The group's epoch, a hash of its topics, and the configs of its last assignment."""

    epoch: i32
    metadata_hash: i64
    validated_topology_epoch: i32 = tag(0, "0+", default=-1)
    last_assignment_configs: list[Config] | None = tag(1, "0+", default=[])

    class Config(Struct):
        key: str
        value: str


class StreamsGroupMemberMetadataKey(Key, record_types="19", versions="0"):
    """The group and the member."""

    group_id: str
    member_id: str


class StreamsGroupMemberMetadataValue(Message, versions="0", flexible="0+"):
    """The member's client and process, and its endpoint for interactive queries."""

    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: i32 = -1
    topology_epoch: i32
    process_id: str
    user_endpoint: Endpoint | None = None
    client_tags: list[KeyValue]

    class Endpoint(Struct):
        host: str
        port: u16

    class KeyValue(Struct):
        key: str
        value: str


class StreamsGroupTargetAssignmentMetadataKey(Key, record_types="20", versions="0"):
    """The group."""

    group_id: str


class StreamsGroupTargetAssignmentMetadataValue(Message, versions="0", flexible="0+"):
    """The epoch of the target assignment, and when that was computed (ms)."""

    assignment_epoch: i32
    assignment_timestamp: i64 = tag(0, "0+", default=0)


class StreamsGroupTargetAssignmentMemberKey(Key, record_types="21", versions="0"):
    """The group and the member."""

    group_id: str
    member_id: str


class StreamsGroupTargetAssignmentMemberValue(Message, versions="0", flexible="0+"):
    """The member's target tasks."""

    active_tasks: list[TaskIds]
    standby_tasks: list[TaskIds]
    warmup_tasks: list[TaskIds]

    class TaskIds(Struct):
        subtopology_id: str
        partitions: list[i32]


class StreamsGroupCurrentMemberAssignmentKey(Key, record_types="22", versions="0"):
    """The group and the member."""

    group_id: str
    member_id: str


class StreamsGroupCurrentMemberAssignmentValue(Message, versions="0", flexible="0+"):
    """The member's epoch and state, the tasks it has, and those it has not given up yet."""

    member_epoch: i32
    previous_member_epoch: i32
    state: i8
    active_tasks: list[TaskIds]
    standby_tasks: list[TaskIds]
    warmup_tasks: list[TaskIds]
    active_tasks_pending_revocation: list[TaskIds]
    standby_tasks_pending_revocation: list[TaskIds]
    warmup_tasks_pending_revocation: list[TaskIds]

    class TaskIds(Struct):
        subtopology_id: str
        partitions: list[i32]
        assignment_epochs: list[i32] | None = tag(0, "0+", default=[])


class StreamsGroupTopologyKey(Key, record_types="23", versions="0"):
    """The group."""

    group_id: str


class StreamsGroupTopologyValue(Message, versions="0", flexible="0+"):
    """The subtopologies, and the topics that each reads and writes."""

    epoch: i32
    subtopologies: list[Subtopology]

    class Subtopology(Struct):
        subtopology_id: str
        source_topics: list[str]
        source_topic_regex: list[str]
        state_changelog_topics: list[StreamsGroupTopologyValue.TopicInfo]
        repartition_sink_topics: list[str]
        repartition_source_topics: list[StreamsGroupTopologyValue.TopicInfo]
        copartition_groups: list[CopartitionGroup]

        class CopartitionGroup(Struct):
            source_topics: list[i16]
            source_topic_regex: list[i16]
            repartition_source_topics: list[i16]

    class TopicInfo(Struct):
        name: str
        partitions: i32
        replication_factor: i16
        topic_configs: list[TopicConfig]

        class TopicConfig(Struct):
            key: str
            value: str
