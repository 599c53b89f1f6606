"""WriteShareGroupState (85): change a share group's state."""

from __future__ import annotations

from ..schema import UUID, Request, Response, Struct, i8, i16, i32, i64, v


class WriteShareGroupStateRequest(Request, api=85, versions="0-1", flexible="0+"):
    """Store the state of these partitions."""

    group_id: str
    topics: list[Topic]

    class Topic(Struct):
        topic_id: UUID
        partitions: list[Partition]

        class Partition(Struct):
            partition: i32
            state_epoch: i32
            leader_epoch: i32
            start_offset: i64
            delivery_complete_count: i32 = v("1+", default=-1)
            state_batches: list[StateBatch]

            class StateBatch(Struct):
                first_offset: i64
                last_offset: i64
                delivery_state: i8
                delivery_count: i16


class WriteShareGroupStateResponse(Response, api=85, versions="0-1", flexible="0+"):
    """Whether each state was stored."""

    results: list[Topic]

    class Topic(Struct):
        topic_id: UUID
        partitions: list[Partition]

        class Partition(Struct):
            partition: i32
            error_code: i16 = 0
            error_message: str | None = None
