"""ListGroups (16): the groups that a broker coordinates."""

from __future__ import annotations

from ..schema import Request, Response, Struct, i16, i32, v


class ListGroupsRequest(Request, api=16, versions="0-5", flexible="3+"):
    """Ask for groups, optionally only those in given states or of given types."""

    states_filter: list[str] = v("4+", default=[])
    types_filter: list[str] = v("5+", default=[])


class ListGroupsResponse(Response, api=16, versions="0-5", flexible="3+"):
    """The groups of this broker."""

    throttle_time_ms: i32 = v("1+", default=0)
    error_code: i16 = 0
    groups: list[Group]

    class Group(Struct):
        group_id: str
        protocol_type: str
        group_state: str = v("4+", default="")
        group_type: str = v("5+", default="")
