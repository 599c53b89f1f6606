"""DescribeQuorum (55): voters and observers of the metadata log."""

from __future__ import annotations

from ..primitives import NO_ID
from ..schema import UUID, Request, Response, Struct, i16, i32, i64, u16, v


class DescribeQuorumRequest(Request, api=55, versions="0-2", flexible="0+"):
    """Ask for the quorum of a partition."""

    topics: list[Topic]

    class Topic(Struct):
        topic_name: str
        partitions: list[Partition]

        class Partition(Struct):
            partition_index: i32


class DescribeQuorumResponse(Response, api=55, versions="0-2", flexible="0+"):
    """The leader, and the log end offsets of the others."""

    error_code: i16 = 0
    error_message: str | None = v("2+", default="")
    topics: list[Topic]
    nodes: list[Node] = v("2+", default=[])

    class Topic(Struct):
        topic_name: str
        partitions: list[Partition]

        class Partition(Struct):
            partition_index: i32
            error_code: i16 = 0
            error_message: str | None = v("2+", default="")
            leader_id: i32
            leader_epoch: i32
            high_watermark: i64
            current_voters: list[DescribeQuorumResponse.ReplicaState]
            observers: list[DescribeQuorumResponse.ReplicaState]

    class Node(Struct):
        node_id: i32
        listeners: list[Listener]

        class Listener(Struct):
            name: str
            host: str
            port: u16

    class ReplicaState(Struct):
        replica_id: i32
        replica_directory_id: UUID = v("2+", default=NO_ID)
        log_end_offset: i64
        last_fetch_timestamp: i64 = v("1+", default=-1)
        last_caught_up_timestamp: i64 = v("1+", default=-1)
