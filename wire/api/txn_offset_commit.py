"""TxnOffsetCommit (28): commit a group's offsets as part of a transaction."""

from __future__ import annotations

from ..schema import Request, Response, Struct, i16, i32, i64, v


class TxnOffsetCommitRequest(Request, api=28, versions="0-5", flexible="3+"):
    """Store offsets that count once the transaction is committed."""

    transactional_id: str
    group_id: str
    producer_id: i64
    producer_epoch: i16
    generation_id: i32 = v("3+", default=-1)
    member_id: str = v("3+", default="")
    group_instance_id: str | None = v("3+", default=None)
    topics: list[Topic]

    class Topic(Struct):
        name: str
        partitions: list[Partition]

        class Partition(Struct):
            partition_index: i32
            committed_offset: i64
            committed_leader_epoch: i32 = v("2+", default=-1)
            committed_metadata: str | None


class TxnOffsetCommitResponse(Response, api=28, versions="0-5", flexible="3+"):
    """Whether each offset was stored."""

    throttle_time_ms: i32 = 0
    topics: list[Topic]

    class Topic(Struct):
        name: str
        partitions: list[Partition]

        class Partition(Struct):
            partition_index: i32
            error_code: i16 = 0
