"""DescribeLogDirs (35): directories of a broker, and the sizes of replicas in them."""

from __future__ import annotations

from ..schema import Request, Response, Struct, i16, i32, i64, v


class DescribeLogDirsRequest(Request, api=35, versions="0-5", flexible="2+"):
    """Ask for replicas; null topics mean all."""

    topics: list[Topic] | None

    class Topic(Struct):
        topic: str
        partitions: list[i32]


class DescribeLogDirsResponse(Response, api=35, versions="0-5", flexible="2+"):
    """Each directory with its replicas."""

    throttle_time_ms: i32 = 0
    error_code: i16 = v("3+", default=0)
    results: list[Result]

    class Result(Struct):
        error_code: i16 = 0
        log_dir: str
        topics: list[Topic]
        total_bytes: i64 = v("4+", default=-1)
        usable_bytes: i64 = v("4+", default=-1)
        is_cordoned: bool = v("5+", default=False)

        class Topic(Struct):
            name: str
            partitions: list[Partition]

            class Partition(Struct):
                partition_index: i32
                partition_size: i64
                offset_lag: i64
                is_future_key: bool
