"""ConsumerGroupHeartbeat (68): join, stay in and leave a consumer group (KIP-848)."""

from __future__ import annotations

from ..schema import UUID, Request, Response, Struct, i16, i32, v


class ConsumerGroupHeartbeatRequest(Request, api=68, versions="0-1", flexible="0+"):
    """Report what changed since the last heartbeat; epoch 0 joins, -1 leaves, -2 may return."""

    group_id: str
    member_id: str
    member_epoch: i32
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: i32 = -1
    subscribed_topic_names: list[str] | None = v(default=None)
    subscribed_topic_regex: str | None = v("1+", default=None)
    server_assignor: str | None = None
    topic_partitions: list[TopicPartitions] | None = v(default=None)

    class TopicPartitions(Struct):
        topic_id: UUID
        partitions: list[i32]


class ConsumerGroupHeartbeatResponse(Response, api=68, versions="0-1", flexible="0+"):
    """The member's epoch, and its assignment when that changed."""

    throttle_time_ms: i32 = 0
    error_code: i16 = 0
    error_message: str | None = None
    member_id: str | None = None
    member_epoch: i32 = 0
    heartbeat_interval_ms: i32 = 0
    assignment: Assignment | None = None

    class Assignment(Struct):
        topic_partitions: list[ConsumerGroupHeartbeatResponse.TopicPartitions]

    class TopicPartitions(Struct):
        topic_id: UUID
        partitions: list[i32]
