"""DescribeGroups (15): state and members of classic groups."""

from __future__ import annotations

from ..schema import Request, Response, Struct, i16, i32, v


class DescribeGroupsRequest(Request, api=15, versions="0-6", flexible="5+"):
    """Ask for these groups."""

    groups: list[str]
    include_authorized_operations: bool = v("3+", default=False)


class DescribeGroupsResponse(Response, api=15, versions="0-6", flexible="5+"):
    """The groups; an unknown one is Dead."""

    throttle_time_ms: i32 = v("1+", default=0)
    groups: list[Group]

    class Group(Struct):
        error_code: i16 = 0
        error_message: str | None = v("6+", default=None)
        group_id: str
        group_state: str
        protocol_type: str
        protocol_data: str
        members: list[Member] = v(shared=True)
        authorized_operations: i32 = v("3+", default=-(2**31))

        class Member(Struct):
            member_id: str
            group_instance_id: str | None = v("4+", default=None)
            client_id: str
            client_host: str
            member_metadata: bytes
            member_assignment: bytes
