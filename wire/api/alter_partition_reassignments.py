"""AlterPartitionReassignments (45): move partitions to other brokers."""

from __future__ import annotations

from ..schema import Request, Response, Struct, i16, i32, v


class AlterPartitionReassignmentsRequest(Request, api=45, versions="0-1", flexible="0+"):
    """Move partitions to these replicas; null cancels a move."""

    timeout_ms: i32 = 60000
    allow_replication_factor_change: bool = v("1+", default=True)
    topics: list[Topic]

    class Topic(Struct):
        name: str
        partitions: list[Partition]

        class Partition(Struct):
            partition_index: i32
            replicas: list[i32] | None = v(default=None)


class AlterPartitionReassignmentsResponse(Response, api=45, versions="0-1", flexible="0+"):
    """Whether each move begins."""

    throttle_time_ms: i32 = 0
    allow_replication_factor_change: bool = v("1+", default=True)
    error_code: i16 = 0
    error_message: str | None
    responses: list[Topic]

    class Topic(Struct):
        name: str
        partitions: list[Partition]

        class Partition(Struct):
            partition_index: i32
            error_code: i16 = 0
            error_message: str | None
