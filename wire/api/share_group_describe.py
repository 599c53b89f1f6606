"""ShareGroupDescribe (77): state and members of share groups."""

from __future__ import annotations

from ..schema import UUID, Request, Response, Struct, i16, i32


class ShareGroupDescribeRequest(Request, api=77, versions="0-1", flexible="0+", unstable="0"):
    """Ask for these groups."""

    group_ids: list[str]
    include_authorized_operations: bool


class ShareGroupDescribeResponse(Response, api=77, versions="0-1", flexible="0+"):
    """The groups, with each member's assignment."""

    throttle_time_ms: i32 = 0
    groups: list[Group]

    class Group(Struct):
        error_code: i16 = 0
        error_message: str | None = None
        group_id: str
        group_state: str
        group_epoch: i32
        assignment_epoch: i32
        assignor_name: str
        members: list[Member]
        authorized_operations: i32 = -(2**31)

        class Member(Struct):
            member_id: str
            rack_id: str | None = None
            member_epoch: i32
            client_id: str
            client_host: str
            subscribed_topic_names: list[str]
            assignment: ShareGroupDescribeResponse.Assignment

    class TopicPartitions(Struct):
        topic_id: UUID
        topic_name: str
        partitions: list[i32]

    class Assignment(Struct):
        topic_partitions: list[ShareGroupDescribeResponse.TopicPartitions]
