"""Heartbeat (12): stay a member of a classic group."""

from __future__ import annotations

from ..schema import Request, Response, i16, i32, v


class HeartbeatRequest(Request, api=12, versions="0-4", flexible="4+"):
    """Show that the member is alive."""

    group_id: str
    generation_id: i32
    member_id: str
    group_instance_id: str | None = v("3+", default=None)


class HeartbeatResponse(Response, api=12, versions="0-4", flexible="4+"):
    """Whether it is still a member, and of this generation."""

    throttle_time_ms: i32 = v("1+", default=0)
    error_code: i16 = 0
