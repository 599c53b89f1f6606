"""StreamsGroupHeartbeat (88): join, stay in and leave a streams group (KIP-1071)."""

from __future__ import annotations

from ..schema import Request, Response, Struct, i8, i16, i32, i64, u16, v


class StreamsGroupHeartbeatRequest(Request, api=88, versions="0", flexible="0+"):
    """Report what changed since the last heartbeat; epoch 0 joins, -1 leaves, -2 may return."""

    group_id: str
    member_id: str
    member_epoch: i32
    endpoint_information_epoch: i32
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: i32 = -1
    topology: Topology | None = None
    active_tasks: list[TaskIds] | None = v(default=None)
    standby_tasks: list[TaskIds] | None = v(default=None)
    warmup_tasks: list[TaskIds] | None = v(default=None)
    process_id: str | None = None
    user_endpoint: Endpoint | None = None
    client_tags: list[KeyValue] | None = v(default=None)
    task_offsets: list[TaskOffset] | None = v(default=None)
    task_end_offsets: list[TaskOffset] | None = v(default=None)
    shutdown_application: bool = False

    class Topology(Struct):
        epoch: i32
        subtopologies: list[Subtopology]

        class Subtopology(Struct):
            subtopology_id: str
            source_topics: list[str]
            source_topic_regex: list[str]
            state_changelog_topics: list[StreamsGroupHeartbeatRequest.TopicInfo]
            repartition_sink_topics: list[str]
            repartition_source_topics: list[StreamsGroupHeartbeatRequest.TopicInfo]
            copartition_groups: list[CopartitionGroup]

            class CopartitionGroup(Struct):
                source_topics: list[i16]
                source_topic_regex: list[i16]
                repartition_source_topics: list[i16]

    class KeyValue(Struct):
        key: str
        value: str

    class TopicInfo(Struct):
        name: str
        partitions: i32
        replication_factor: i16
        topic_configs: list[StreamsGroupHeartbeatRequest.KeyValue]

    class Endpoint(Struct):
        host: str
        port: u16

    class TaskOffset(Struct):
        subtopology_id: str
        partition: i32
        offset: i64

    class TaskIds(Struct):
        subtopology_id: str
        partitions: list[i32]


class StreamsGroupHeartbeatResponse(Response, api=88, versions="0", flexible="0+"):
    """The member's epoch, and its tasks when those changed."""

    throttle_time_ms: i32 = 0
    error_code: i16 = 0
    error_message: str | None = None
    member_id: str
    member_epoch: i32
    heartbeat_interval_ms: i32
    acceptable_recovery_lag: i32
    task_offset_interval_ms: i32
    status: list[Status] | None
    active_tasks: list[TaskIds] | None = v(default=None)
    standby_tasks: list[TaskIds] | None = v(default=None)
    warmup_tasks: list[TaskIds] | None = v(default=None)
    endpoint_information_epoch: i32
    partitions_by_user_endpoint: list[EndpointToPartitions] | None = v(default=None)

    class EndpointToPartitions(Struct):
        user_endpoint: StreamsGroupHeartbeatResponse.Endpoint
        active_partitions: list[StreamsGroupHeartbeatResponse.TopicPartition]
        standby_partitions: list[StreamsGroupHeartbeatResponse.TopicPartition]

    class Status(Struct):
        status_code: i8
        status_detail: str

    class TopicPartition(Struct):
        topic: str
        partitions: list[i32]

    class TaskIds(Struct):
        subtopology_id: str
        partitions: list[i32]

    class Endpoint(Struct):
        host: str
        port: u16
