"""StreamsGroupDescribe (89): state, topology and members of streams groups."""

from __future__ import annotations

from ..schema import Request, Response, Struct, i16, i32, i64, u16, v


class StreamsGroupDescribeRequest(Request, api=89, versions="0", flexible="0+"):
    """Ask for these groups."""

    group_ids: list[str]
    include_authorized_operations: bool


class StreamsGroupDescribeResponse(Response, api=89, versions="0", flexible="0+"):
    """The groups, with each member's current and target tasks."""

    throttle_time_ms: i32 = 0
    groups: list[Group]

    class Group(Struct):
        error_code: i16 = 0
        error_message: str | None = None
        group_id: str
        group_state: str
        group_epoch: i32
        assignment_epoch: i32
        topology: Topology | None = None
        members: list[Member]
        authorized_operations: i32 = -(2**31)

        class Topology(Struct):
            epoch: i32
            subtopologies: list[Subtopology] | None = v(default=None)

            class Subtopology(Struct):
                subtopology_id: str
                source_topics: list[str]
                repartition_sink_topics: list[str]
                state_changelog_topics: list[StreamsGroupDescribeResponse.TopicInfo]
                repartition_source_topics: list[StreamsGroupDescribeResponse.TopicInfo]

        class Member(Struct):
            member_id: str
            member_epoch: i32
            instance_id: str | None = None
            rack_id: str | None = None
            client_id: str
            client_host: str
            topology_epoch: i32
            process_id: str
            user_endpoint: StreamsGroupDescribeResponse.Endpoint | None = None
            client_tags: list[StreamsGroupDescribeResponse.KeyValue]
            task_offsets: list[StreamsGroupDescribeResponse.TaskOffset]
            task_end_offsets: list[StreamsGroupDescribeResponse.TaskOffset]
            assignment: StreamsGroupDescribeResponse.Assignment
            target_assignment: StreamsGroupDescribeResponse.Assignment
            is_classic: bool

    class Endpoint(Struct):
        host: str
        port: u16

    class TaskOffset(Struct):
        subtopology_id: str
        partition: i32
        offset: i64

    class Assignment(Struct):
        active_tasks: list[StreamsGroupDescribeResponse.TaskIds]
        standby_tasks: list[StreamsGroupDescribeResponse.TaskIds]
        warmup_tasks: list[StreamsGroupDescribeResponse.TaskIds]

    class TaskIds(Struct):
        subtopology_id: str
        partitions: list[i32]

    class KeyValue(Struct):
        key: str
        value: str

    class TopicInfo(Struct):
        name: str
        partitions: i32
        replication_factor: i16
        topic_configs: list[StreamsGroupDescribeResponse.KeyValue]
