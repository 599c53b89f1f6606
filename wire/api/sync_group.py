"""SyncGroup (14): distribute the assignment of a generation."""

from __future__ import annotations

from ..schema import Request, Response, Struct, i16, i32, v


class SyncGroupRequest(Request, api=14, versions="0-5", flexible="4+"):
    """Ask for the member's assignment; the leader sends those of all members."""

    group_id: str
    generation_id: i32
    member_id: str
    group_instance_id: str | None = v("3+", default=None)
    protocol_type: str | None = v("5+", default=None)
    protocol_name: str | None = v("5+", default=None)
    assignments: list[Assignment] = v(default=[])

    class Assignment(Struct):
        member_id: str
        assignment: bytes = b""


class SyncGroupResponse(Response, api=14, versions="0-5", flexible="4+"):
    """The leader's assignment of this member."""

    throttle_time_ms: i32 = v("1+", default=0)
    error_code: i16 = 0
    protocol_type: str | None = v("5+", default=None)
    protocol_name: str | None = v("5+", default=None)
    assignment: bytes = b""
