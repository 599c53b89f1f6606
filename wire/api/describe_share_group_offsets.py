"""DescribeShareGroupOffsets (90): where do share groups start?"""

from __future__ import annotations

from ..schema import UUID, Request, Response, Struct, i16, i32, i64, v


class DescribeShareGroupOffsetsRequest(Request, api=90, versions="0-1", flexible="0+"):
    """Ask for start offsets; null topics mean all."""

    groups: list[Group]

    class Group(Struct):
        group_id: str
        topics: list[Topic] | None

        class Topic(Struct):
            topic_name: str
            partitions: list[i32]


class DescribeShareGroupOffsetsResponse(Response, api=90, versions="0-1", flexible="0+"):
    """Start offsets, and the lag from v1 on."""

    throttle_time_ms: i32 = 0
    groups: list[Group]

    class Group(Struct):
        group_id: str
        topics: list[Topic]
        error_code: i16 = 0
        error_message: str | None = None

        class Topic(Struct):
            topic_name: str
            topic_id: UUID
            partitions: list[Partition]

            class Partition(Struct):
                partition_index: i32
                start_offset: i64
                leader_epoch: i32
                lag: i64 = v("1+", default=-1)
                error_code: i16 = 0
                error_message: str | None = None
