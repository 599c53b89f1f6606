"""DeleteShareGroupState (86): delete a share group's state."""

from __future__ import annotations

from ..schema import UUID, Request, Response, Struct, i16, i32


class DeleteShareGroupStateRequest(Request, api=86, versions="0", flexible="0+"):
    """Delete the state of these partitions."""

    group_id: str
    topics: list[Topic]

    class Topic(Struct):
        topic_id: UUID
        partitions: list[Partition]

        class Partition(Struct):
            partition: i32


class DeleteShareGroupStateResponse(Response, api=86, versions="0", flexible="0+"):
    """Whether each state was deleted."""

    results: list[Topic]

    class Topic(Struct):
        topic_id: UUID
        partitions: list[Partition]

        class Partition(Struct):
            partition: i32
            error_code: i16 = 0
            error_message: str | None = None
