"""DescribeTopicPartitions (75): partitions of topics, page by page."""

from __future__ import annotations

from ..schema import UUID, Request, Response, Struct, i16, i32, v


class DescribeTopicPartitionsRequest(Request, api=75, versions="0", flexible="0+"):
    """Ask for partitions from the cursor on; no topics mean all."""

    topics: list[Topic]
    response_partition_limit: i32 = 2000
    cursor: Cursor | None = None

    class Topic(Struct):
        name: str

    class Cursor(Struct):
        topic_name: str
        partition_index: i32


class DescribeTopicPartitionsResponse(Response, api=75, versions="0", flexible="0+"):
    """Partitions in order, and a cursor if there are more."""

    throttle_time_ms: i32 = 0
    topics: list[Topic]
    next_cursor: Cursor | None = None

    class Topic(Struct):
        error_code: i16 = 0
        name: str | None
        topic_id: UUID
        is_internal: bool = False
        partitions: list[Partition]
        topic_authorized_operations: i32 = -(2**31)

        class Partition(Struct):
            error_code: i16 = 0
            partition_index: i32
            leader_id: i32
            leader_epoch: i32 = -1
            replica_nodes: list[i32]
            isr_nodes: list[i32]
            eligible_leader_replicas: list[i32] | None = v(default=None)
            last_known_elr: list[i32] | None = v(default=None)
            offline_replicas: list[i32]

    class Cursor(Struct):
        topic_name: str
        partition_index: i32
