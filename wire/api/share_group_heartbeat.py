"""ShareGroupHeartbeat (76): join, stay in and leave a share group (KIP-932)."""

from __future__ import annotations

from ..schema import UUID, Request, Response, Struct, i16, i32, v


class ShareGroupHeartbeatRequest(Request, api=76, versions="0-1", flexible="0+", unstable="0"):
    """Report what changed since the last heartbeat; epoch 0 joins, -1 leaves."""

    group_id: str
    member_id: str
    member_epoch: i32
    rack_id: str | None = None
    subscribed_topic_names: list[str] | None = v(default=None)


class ShareGroupHeartbeatResponse(Response, api=76, versions="0-1", flexible="0+"):
    """The member's epoch, and its assignment when that changed."""

    throttle_time_ms: i32 = 0
    error_code: i16 = 0
    error_message: str | None = None
    member_id: str | None = None
    member_epoch: i32 = 0
    heartbeat_interval_ms: i32 = 0
    assignment: Assignment | None = None

    class Assignment(Struct):
        topic_partitions: list[ShareGroupHeartbeatResponse.TopicPartitions]

    class TopicPartitions(Struct):
        topic_id: UUID
        partitions: list[i32]
