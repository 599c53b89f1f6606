"""AlterConfigs (33): replace all configs of a resource."""

from __future__ import annotations

from ..schema import Request, Response, Struct, i8, i16, i32


class AlterConfigsRequest(Request, api=33, versions="0-2", flexible="2+"):
    """Set these configs and no others."""

    resources: list[Resource]
    validate_only: bool

    class Resource(Struct):
        resource_type: i8
        resource_name: str
        configs: list[Config]

        class Config(Struct):
            name: str
            value: str | None


class AlterConfigsResponse(Response, api=33, versions="0-2", flexible="2+"):
    """Whether each resource was changed."""

    throttle_time_ms: i32 = 0
    responses: list[Resource]

    class Resource(Struct):
        error_code: i16 = 0
        error_message: str | None
        resource_type: i8
        resource_name: str
