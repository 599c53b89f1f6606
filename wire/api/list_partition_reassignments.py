"""ListPartitionReassignments (46): partitions that are moving between brokers."""

from __future__ import annotations

from ..schema import Request, Response, Struct, i16, i32, v


class ListPartitionReassignmentsRequest(Request, api=46, versions="0", flexible="0+"):
    """Ask for moves; null topics mean all."""

    timeout_ms: i32 = 60000
    topics: list[Topic] | None = v(default=None)

    class Topic(Struct):
        name: str
        partition_indexes: list[i32]


class ListPartitionReassignmentsResponse(Response, api=46, versions="0", flexible="0+"):
    """The replicas, and those being added and removed."""

    throttle_time_ms: i32 = 0
    error_code: i16 = 0
    error_message: str | None
    topics: list[Topic]

    class Topic(Struct):
        name: str
        partitions: list[Partition]

        class Partition(Struct):
            partition_index: i32
            replicas: list[i32]
            adding_replicas: list[i32]
            removing_replicas: list[i32]
