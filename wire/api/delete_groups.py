"""DeleteGroups (42): delete groups that have no members."""

from __future__ import annotations

from ..schema import Request, Response, Struct, i16, i32


class DeleteGroupsRequest(Request, api=42, versions="0-2", flexible="2+"):
    """Delete these groups."""

    groups_names: list[str]


class DeleteGroupsResponse(Response, api=42, versions="0-2", flexible="2+"):
    """Whether each group was deleted."""

    throttle_time_ms: i32 = 0
    results: list[Result]

    class Result(Struct):
        group_id: str
        error_code: i16 = 0
