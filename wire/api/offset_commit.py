"""OffsetCommit (8): store how far a group has read."""

from __future__ import annotations

from ..primitives import NO_ID
from ..schema import UUID, Request, Response, Struct, i16, i32, i64, v


class OffsetCommitRequest(Request, api=8, versions="0-10", flexible="8+"):
    """Store the offsets of a group, for one of its members."""

    group_id: str
    generation_id_or_member_epoch: i32 = v("1+", default=-1)
    member_id: str = v("1+", default="")
    group_instance_id: str | None = v("7+", default=None)
    retention_time_ms: i64 = v("2-4", default=-1)
    topics: list[Topic]

    class Topic(Struct):
        name: str = v("0-9", default="")
        topic_id: UUID = v("10+", default=NO_ID)
        partitions: list[Partition]

        class Partition(Struct):
            partition_index: i32
            committed_offset: i64
            committed_leader_epoch: i32 = v("6+", default=-1)
            commit_timestamp: i64 = v("1", default=-1)
            committed_metadata: str | None


class OffsetCommitResponse(Response, api=8, versions="0-10", flexible="8+"):
    """Whether each offset was stored."""

    throttle_time_ms: i32 = v("3+", default=0)
    topics: list[Topic]

    class Topic(Struct):
        name: str = v("0-9", default="")
        topic_id: UUID = v("10+", default=NO_ID)
        partitions: list[Partition]

        class Partition(Struct):
            partition_index: i32
            error_code: i16 = 0
