"""ListOffsets (2): find offsets by time, or the first and last ones."""

from __future__ import annotations

from ..schema import Request, Response, Struct, i8, i16, i32, i64, v


class ListOffsetsRequest(Request, api=2, versions="0-11", flexible="6+"):
    """Ask for the first offset at or after a timestamp; negative ones have special meanings."""

    replica_id: i32
    isolation_level: i8 = v("2+", default=0)
    topics: list[Topic]
    timeout_ms: i32 = v("10+", default=0)

    class Topic(Struct):
        name: str
        partitions: list[Partition]

        class Partition(Struct):
            partition_index: i32
            current_leader_epoch: i32 = v("4+", default=-1)
            timestamp: i64
            max_num_offsets: i32 = v("0", default=1)


class ListOffsetsResponse(Response, api=2, versions="0-11", flexible="6+"):
    """The offset found for each partition, -1 where there is none; in v0 several, newest first."""

    throttle_time_ms: i32 = v("2+", default=0)
    topics: list[Topic]

    class Topic(Struct):
        name: str
        partitions: list[Partition]

        class Partition(Struct):
            partition_index: i32
            error_code: i16 = 0
            old_style_offsets: list[i64] = v("0", default=[])
            timestamp: i64 = v("1+", default=-1)
            offset: i64 = v("1+", default=-1)
            leader_epoch: i32 = v("4+", default=-1)
