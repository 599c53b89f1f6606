"""DescribeAcls (29): find access rules."""

from __future__ import annotations

from ..schema import Request, Response, Struct, i8, i16, i32, v


class DescribeAclsRequest(Request, api=29, versions="0-3", flexible="2+"):
    """Ask for rules that match the filter."""

    resource_type_filter: i8
    resource_name_filter: str | None
    pattern_type_filter: i8 = v("1+", default=3)
    principal_filter: str | None
    host_filter: str | None
    operation: i8
    permission_type: i8


class DescribeAclsResponse(Response, api=29, versions="0-3", flexible="2+"):
    """The rules by resource."""

    throttle_time_ms: i32 = 0
    error_code: i16 = 0
    error_message: str | None
    resources: list[Resource]

    class Resource(Struct):
        resource_type: i8
        resource_name: str
        pattern_type: i8 = v("1+", default=3)
        acls: list[Acl]

        class Acl(Struct):
            principal: str
            host: str
            operation: i8
            permission_type: i8
