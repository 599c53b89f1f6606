"""DeleteShareGroupOffsets (92): delete where a share group starts."""

from __future__ import annotations

from ..schema import UUID, Request, Response, Struct, i16, i32


class DeleteShareGroupOffsetsRequest(Request, api=92, versions="0", flexible="0+"):
    """Delete start offsets of a group without members."""

    group_id: str
    topics: list[Topic]

    class Topic(Struct):
        topic_name: str


class DeleteShareGroupOffsetsResponse(Response, api=92, versions="0", flexible="0+"):
    """Whether each topic's were deleted."""

    throttle_time_ms: i32 = 0
    error_code: i16 = 0
    error_message: str | None = None
    responses: list[Topic]

    class Topic(Struct):
        topic_name: str
        topic_id: UUID
        error_code: i16 = 0
        error_message: str | None = None
