"""DeleteRecords (21): delete the records before an offset."""

from __future__ import annotations

from ..schema import Request, Response, Struct, i16, i32, i64


class DeleteRecordsRequest(Request, api=21, versions="0-2", flexible="2+"):
    """Raise the log start offset; -1 means to the high watermark."""

    topics: list[Topic]
    timeout_ms: i32

    class Topic(Struct):
        name: str
        partitions: list[Partition]

        class Partition(Struct):
            partition_index: i32
            offset: i64


class DeleteRecordsResponse(Response, api=21, versions="0-2", flexible="2+"):
    """The new first offset of each partition."""

    throttle_time_ms: i32 = 0
    topics: list[Topic]

    class Topic(Struct):
        name: str
        partitions: list[Partition]

        class Partition(Struct):
            partition_index: i32
            low_watermark: i64
            error_code: i16 = 0
