"""ReadShareGroupState (84): read a share group's state."""

from __future__ import annotations

from ..schema import UUID, Request, Response, Struct, i8, i16, i32, i64


class ReadShareGroupStateRequest(Request, api=84, versions="0", flexible="0+"):
    """Ask for the state of these partitions."""

    group_id: str
    topics: list[Topic]

    class Topic(Struct):
        topic_id: UUID
        partitions: list[Partition]

        class Partition(Struct):
            partition: i32
            leader_epoch: i32


class ReadShareGroupStateResponse(Response, api=84, versions="0", flexible="0+"):
    """Offsets and delivery states."""

    results: list[Topic]

    class Topic(Struct):
        topic_id: UUID
        partitions: list[Partition]

        class Partition(Struct):
            partition: i32
            error_code: i16 = 0
            error_message: str | None = None
            state_epoch: i32
            start_offset: i64
            state_batches: list[StateBatch]

            class StateBatch(Struct):
                first_offset: i64
                last_offset: i64
                delivery_state: i8
                delivery_count: i16
