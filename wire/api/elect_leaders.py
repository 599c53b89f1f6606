"""ElectLeaders (43): elect preferred, or out-of-sync, replicas as leaders."""

from __future__ import annotations

from ..schema import Request, Response, Struct, i8, i16, i32, v


class ElectLeadersRequest(Request, api=43, versions="0-2", flexible="2+"):
    """Elect leaders; null partitions mean all."""

    election_type: i8 = v("1+", default=0)
    topic_partitions: list[Topic] | None
    timeout_ms: i32 = 60000

    class Topic(Struct):
        topic: str
        partitions: list[i32]


class ElectLeadersResponse(Response, api=43, versions="0-2", flexible="2+"):
    """Whether each leader was elected."""

    throttle_time_ms: i32 = 0
    error_code: i16 = v("1+", default=0)
    replica_election_results: list[Topic]

    class Topic(Struct):
        topic: str
        partition_result: list[Partition]

        class Partition(Struct):
            partition_id: i32
            error_code: i16 = 0
            error_message: str | None
