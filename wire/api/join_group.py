"""JoinGroup (11): become, or remain, a member of a classic group."""

from __future__ import annotations

from ..schema import Request, Response, Struct, i16, i32, v


class JoinGroupRequest(Request, api=11, versions="0-9", flexible="6+"):
    """Offer the protocols a member supports; answered when the round is complete."""

    group_id: str
    session_timeout_ms: i32
    rebalance_timeout_ms: i32 = v("1+", default=-1)
    member_id: str
    group_instance_id: str | None = v("5+", default=None)
    protocol_type: str
    protocols: list[Protocol]
    reason: str | None = v("8+", default=None)

    class Protocol(Struct):
        name: str
        metadata: bytes


class JoinGroupResponse(Response, api=11, versions="0-9", flexible="6+"):
    """The new generation; its leader is also sent all members."""

    throttle_time_ms: i32 = v("2+", default=0)
    error_code: i16 = 0
    generation_id: i32 = -1
    protocol_type: str | None = v("7+", default=None)
    protocol_name: str | None = v(default="", nullable="7+")
    leader: str = ""
    skip_assignment: bool = v("9+", default=False)
    member_id: str = ""
    members: list[Member] = v(default=[])

    class Member(Struct):
        member_id: str
        group_instance_id: str | None = v("5+", default=None)
        metadata: bytes
