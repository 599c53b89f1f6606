"""DeleteAcls (31): remove access rules."""

from __future__ import annotations

from ..schema import Request, Response, Struct, i8, i16, i32, v


class DeleteAclsRequest(Request, api=31, versions="0-3", flexible="2+"):
    """Remove the rules that match each filter."""

    filters: list[Filter]

    class Filter(Struct):
        resource_type_filter: i8
        resource_name_filter: str | None
        pattern_type_filter: i8 = v("1+", default=3)
        principal_filter: str | None
        host_filter: str | None
        operation: i8
        permission_type: i8


class DeleteAclsResponse(Response, api=31, versions="0-3", flexible="2+"):
    """The rules removed by each filter."""

    throttle_time_ms: i32 = 0
    filter_results: list[FilterResult]

    class FilterResult(Struct):
        error_code: i16 = 0
        error_message: str | None
        matching_acls: list[MatchingAcl]

        class MatchingAcl(Struct):
            error_code: i16 = 0
            error_message: str | None
            resource_type: i8
            resource_name: str
            pattern_type: i8 = v("1+", default=3)
            principal: str
            host: str
            operation: i8
            permission_type: i8
