"""IncrementalAlterConfigs (44): change some configs of a resource."""

from __future__ import annotations

from ..schema import Request, Response, Struct, i8, i16, i32


class IncrementalAlterConfigsRequest(Request, api=44, versions="0-1", flexible="1+"):
    """Set (0), delete (1), append to (2) or subtract from (3) configs."""

    resources: list[Resource]
    validate_only: bool

    class Resource(Struct):
        resource_type: i8
        resource_name: str
        configs: list[Config]

        class Config(Struct):
            name: str
            config_operation: i8
            value: str | None


class IncrementalAlterConfigsResponse(Response, api=44, versions="0-1", flexible="1+"):
    """Whether each resource was changed."""

    throttle_time_ms: i32 = 0
    responses: list[Resource]

    class Resource(Struct):
        error_code: i16 = 0
        error_message: str | None
        resource_type: i8
        resource_name: str
