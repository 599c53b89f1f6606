"""ConsumerGroupDescribe (69): state and members of consumer groups (KIP-848)."""

from __future__ import annotations

from ..schema import UUID, Request, Response, Struct, i8, i16, i32, v


class ConsumerGroupDescribeRequest(Request, api=69, versions="0-1", flexible="0+"):
    """Ask for these groups."""

    group_ids: list[str]
    include_authorized_operations: bool


class ConsumerGroupDescribeResponse(Response, api=69, versions="0-1", flexible="0+"):
    """The groups, with each member's current and target assignment."""

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
        members: list[Member] = v(shared=True)
        authorized_operations: i32 = -(2**31)

        class Member(Struct):
            member_id: str
            instance_id: str | None = None
            rack_id: str | None = None
            member_epoch: i32
            client_id: str
            client_host: str
            subscribed_topic_names: list[str]
            subscribed_topic_regex: str | None = None
            assignment: ConsumerGroupDescribeResponse.Assignment
            target_assignment: ConsumerGroupDescribeResponse.Assignment
            member_type: i8 = v("1+", default=-1)

    class TopicPartitions(Struct):
        topic_id: UUID
        topic_name: str
        partitions: list[i32]

    class Assignment(Struct):
        topic_partitions: list[ConsumerGroupDescribeResponse.TopicPartitions]
