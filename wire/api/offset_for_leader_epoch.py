"""OffsetForLeaderEpoch (23): where did a leader's epoch end?"""

from __future__ import annotations

from ..schema import Request, Response, Struct, i16, i32, i64, v


class OffsetForLeaderEpochRequest(Request, api=23, versions="0-4", flexible="4+"):
    """Ask for the end of an epoch, to find out where a log diverged."""

    replica_id: i32 = v("3+", default=-2)
    topics: list[Topic]

    class Topic(Struct):
        topic: str
        partitions: list[Partition]

        class Partition(Struct):
            partition: i32
            current_leader_epoch: i32 = v("2+", default=-1)
            leader_epoch: i32


class OffsetForLeaderEpochResponse(Response, api=23, versions="0-4", flexible="4+"):
    """The last offset of the epoch, or of the largest one below it."""

    throttle_time_ms: i32 = v("2+", default=0)
    topics: list[Topic]

    class Topic(Struct):
        topic: str
        partitions: list[Partition]

        class Partition(Struct):
            error_code: i16 = 0
            partition: i32
            leader_epoch: i32 = v("1+", default=-1)
            end_offset: i64 = -1
