"""AlterReplicaLogDirs (34): move replicas to another directory of a broker."""

from __future__ import annotations

from ..schema import Request, Response, Struct, i16, i32


class AlterReplicaLogDirsRequest(Request, api=34, versions="0-2", flexible="2+"):
    """Move replicas to these directories."""

    dirs: list[Dir]

    class Dir(Struct):
        path: str
        topics: list[Topic]

        class Topic(Struct):
            name: str
            partitions: list[i32]


class AlterReplicaLogDirsResponse(Response, api=34, versions="0-2", flexible="2+"):
    """Whether each replica moves."""

    throttle_time_ms: i32 = 0
    results: list[Topic]

    class Topic(Struct):
        topic_name: str
        partitions: list[Partition]

        class Partition(Struct):
            partition_index: i32
            error_code: i16 = 0
