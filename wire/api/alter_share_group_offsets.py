"""AlterShareGroupOffsets (91): set where a share group starts."""

from __future__ import annotations

from ..schema import UUID, Request, Response, Struct, i16, i32, i64


class AlterShareGroupOffsetsRequest(Request, api=91, versions="0", flexible="0+"):
    """Set start offsets of a group without members."""

    group_id: str
    topics: list[Topic]

    class Topic(Struct):
        topic_name: str
        partitions: list[Partition]

        class Partition(Struct):
            partition_index: i32
            start_offset: i64


class AlterShareGroupOffsetsResponse(Response, api=91, versions="0", flexible="0+"):
    """Whether each offset was set."""

    throttle_time_ms: i32 = 0
    error_code: i16 = 0
    error_message: str | None = None
    responses: list[Topic]

    class Topic(Struct):
        topic_name: str
        topic_id: UUID
        partitions: list[Partition]

        class Partition(Struct):
            partition_index: i32
            error_code: i16 = 0
            error_message: str | None = None
