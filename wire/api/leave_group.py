"""LeaveGroup (13): leave a classic group."""

from __future__ import annotations

from ..schema import Request, Response, Struct, i16, i32, v


class LeaveGroupRequest(Request, api=13, versions="0-5", flexible="4+"):
    """Remove members from a group; more than one from v3 on."""

    group_id: str
    member_id: str = v("0-2", default="")
    members: list[Member] = v("3+", default=[])

    class Member(Struct):
        member_id: str
        group_instance_id: str | None = None
        reason: str | None = v("5+", default=None)


class LeaveGroupResponse(Response, api=13, versions="0-5", flexible="4+"):
    """Whether each member was removed."""

    throttle_time_ms: i32 = v("1+", default=0)
    error_code: i16 = 0
    members: list[Member] = v("3+", default=[])

    class Member(Struct):
        member_id: str
        group_instance_id: str | None = ""
        error_code: i16 = 0
