"""OffsetFetch (9): how far has a group read?"""

from __future__ import annotations

from ..primitives import NO_ID
from ..schema import UUID, Request, Response, Struct, i16, i32, i64, v


class OffsetFetchRequest(Request, api=9, versions="0-10", flexible="6+"):
    """Ask for committed offsets; null topics mean all. Several groups from v8 on."""

    group_id: str = v("0-7", default="")
    topics: list[Topic] | None = v("0-7", default=[], nullable="2-7")
    groups: list[Group] = v("8+", default=[])
    require_stable: bool = v("7+", default=False)

    class Topic(Struct):
        name: str
        partition_indexes: list[i32]

    class Group(Struct):
        group_id: str
        member_id: str | None = v("9+", default=None)
        member_epoch: i32 = v("9+", default=-1)
        topics: list[Topic] | None

        class Topic(Struct):
            name: str = v("8-9", default="")
            topic_id: UUID = v("10+", default=NO_ID)
            partition_indexes: list[i32]


class OffsetFetchResponse(Response, api=9, versions="0-10", flexible="6+"):
    """The committed offsets; -1 where there is none."""

    throttle_time_ms: i32 = v("3+", default=0)
    topics: list[Topic] = v("0-7", default=[])
    error_code: i16 = v("2-7", default=0)
    groups: list[Group] = v("8+", default=[])

    class Topic(Struct):
        name: str
        partitions: list[Partition]

        class Partition(Struct):
            partition_index: i32
            committed_offset: i64
            committed_leader_epoch: i32 = v("5-7", default=-1)
            metadata: str | None
            error_code: i16 = 0

    class Group(Struct):
        group_id: str
        topics: list[Topic]
        error_code: i16 = 0

        class Topic(Struct):
            name: str = v("8-9", default="")
            topic_id: UUID = v("10+", default=NO_ID)
            partitions: list[Partition]

            class Partition(Struct):
                partition_index: i32
                committed_offset: i64
                committed_leader_epoch: i32 = -1
                metadata: str | None
                error_code: i16 = 0
