"""CreateAcls (30): add access rules."""

from __future__ import annotations

from ..schema import Request, Response, Struct, i8, i16, i32, v


class CreateAclsRequest(Request, api=30, versions="0-3", flexible="2+"):
    """Add these rules."""

    creations: list[Creation]

    class Creation(Struct):
        resource_type: i8
        resource_name: str
        resource_pattern_type: i8 = v("1+", default=3)
        principal: str
        host: str
        operation: i8
        permission_type: i8


class CreateAclsResponse(Response, api=30, versions="0-3", flexible="2+"):
    """Whether each rule was added."""

    throttle_time_ms: i32 = 0
    results: list[Result]

    class Result(Struct):
        error_code: i16 = 0
        error_message: str | None
