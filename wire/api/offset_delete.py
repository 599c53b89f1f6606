"""OffsetDelete (47): delete committed offsets of a group."""

from __future__ import annotations

from ..schema import Request, Response, Struct, i16, i32


class OffsetDeleteRequest(Request, api=47, versions="0"):
    """Delete offsets of topics that no member reads."""

    group_id: str
    topics: list[Topic]

    class Topic(Struct):
        name: str
        partitions: list[Partition]

        class Partition(Struct):
            partition_index: i32


class OffsetDeleteResponse(Response, api=47, versions="0"):
    """Whether each offset was deleted."""

    error_code: i16 = 0
    throttle_time_ms: i32 = 0
    topics: list[Topic]

    class Topic(Struct):
        name: str
        partitions: list[Partition]

        class Partition(Struct):
            partition_index: i32
            error_code: i16 = 0
