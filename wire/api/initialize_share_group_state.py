"""InitializeShareGroupState (83): create a share group's state."""

from __future__ import annotations

from ..schema import UUID, Request, Response, Struct, i16, i32, i64


class InitializeShareGroupStateRequest(Request, api=83, versions="0", flexible="0+"):
    """Create the state of these partitions, from an offset on."""

    group_id: str
    topics: list[Topic]

    class Topic(Struct):
        topic_id: UUID
        partitions: list[Partition]

        class Partition(Struct):
            partition: i32
            state_epoch: i32
            start_offset: i64


class InitializeShareGroupStateResponse(Response, api=83, versions="0", flexible="0+"):
    """Whether each state was created."""

    results: list[Topic]

    class Topic(Struct):
        topic_id: UUID
        partitions: list[Partition]

        class Partition(Struct):
            partition: i32
            error_code: i16 = 0
            error_message: str | None = None
