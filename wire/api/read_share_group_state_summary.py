"""ReadShareGroupStateSummary (87): read a share group's state without its batches."""

from __future__ import annotations

from ..schema import UUID, Request, Response, Struct, i16, i32, i64, v


class ReadShareGroupStateSummaryRequest(Request, api=87, versions="0-1", flexible="0+"):
    """Ask for the state of these partitions."""

    group_id: str
    topics: list[Topic]

    class Topic(Struct):
        topic_id: UUID
        partitions: list[Partition]

        class Partition(Struct):
            partition: i32
            leader_epoch: i32


class ReadShareGroupStateSummaryResponse(Response, api=87, versions="0-1", flexible="0+"):
    """Epochs and offsets only."""

    results: list[Topic]

    class Topic(Struct):
        topic_id: UUID
        partitions: list[Partition]

        class Partition(Struct):
            partition: i32
            error_code: i16 = 0
            error_message: str | None = None
            state_epoch: i32
            leader_epoch: i32
            start_offset: i64
            delivery_complete_count: i32 = v("1+", default=-1)
