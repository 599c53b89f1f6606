"""Metadata (3): brokers, topics, and who leads which partition."""

from __future__ import annotations

from ..primitives import NO_ID
from ..schema import UUID, Request, Response, Struct, i16, i32, v


class MetadataRequest(Request, api=3, versions="0-13", flexible="9+"):
    """Ask for the brokers and for these topics; null topics (an empty list in v0) mean all."""

    topics: list[Topic] | None = v(nullable="1+")
    allow_auto_topic_creation: bool = v("4+", default=True)
    include_cluster_authorized_operations: bool = v("8-10", default=False)
    include_topic_authorized_operations: bool = v("8+", default=False)

    class Topic(Struct):
        topic_id: UUID = v("10+", default=NO_ID)
        name: str | None = v(nullable="10+")


class MetadataResponse(Response, api=3, versions="0-13", flexible="9+"):
    """The current cluster; each topic has an error of its own."""

    throttle_time_ms: i32 = v("3+", default=0)
    brokers: list[Broker]
    cluster_id: str | None = v("2+", default=None)
    controller_id: i32 = v("1+", default=-1)
    topics: list[Topic]
    cluster_authorized_operations: i32 = v("8-10", default=-2147483648)
    error_code: i16 = v("13+", default=0)

    class Broker(Struct):
        node_id: i32
        host: str
        port: i32
        rack: str | None = v("1+", default=None)

    class Topic(Struct):
        error_code: i16 = 0
        name: str | None = v(nullable="12+")
        topic_id: UUID = v("10+", default=NO_ID)
        is_internal: bool = v("1+", default=False)
        partitions: list[Partition]
        topic_authorized_operations: i32 = v("8+", default=-2147483648)

        class Partition(Struct):
            error_code: i16 = 0
            partition_index: i32
            leader_id: i32
            leader_epoch: i32 = v("7+", default=-1)
            replica_nodes: list[i32]
            isr_nodes: list[i32]
            offline_replicas: list[i32] = v("5+")
