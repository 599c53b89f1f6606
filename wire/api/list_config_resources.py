"""ListConfigResources (74): resources that have configs."""

from __future__ import annotations

from ..schema import Request, Response, Struct, i8, i16, i32, v


class ListConfigResourcesRequest(Request, api=74, versions="0-1", flexible="0+"):
    """Ask for resources of these types; none mean all. In v0, client metrics."""

    resource_types: list[i8] = v("1+", default=[])


class ListConfigResourcesResponse(Response, api=74, versions="0-1", flexible="0+"):
    """Names and types."""

    throttle_time_ms: i32 = 0
    error_code: i16 = 0
    config_resources: list[ConfigResource]

    class ConfigResource(Struct):
        resource_name: str
        resource_type: i8 = v("1+", default=16)
