"""DescribeConfigs (32): configs of topics, brokers and other resources."""

from __future__ import annotations

from ..schema import Request, Response, Struct, i8, i16, i32, v


class DescribeConfigsRequest(Request, api=32, versions="0-4", flexible="4+"):
    """Ask for configs; null keys mean all of them."""

    resources: list[Resource]
    include_synonyms: bool = v("1+", default=False)
    include_documentation: bool = v("3+", default=False)

    class Resource(Struct):
        resource_type: i8
        resource_name: str
        configuration_keys: list[str] | None


class DescribeConfigsResponse(Response, api=32, versions="0-4", flexible="4+"):
    """Values, where they are set, and the values that they override."""

    throttle_time_ms: i32 = 0
    results: list[Result]

    class Result(Struct):
        error_code: i16 = 0
        error_message: str | None
        resource_type: i8
        resource_name: str
        configs: list[Config] = v(shared=True)

        class Config(Struct):
            name: str
            value: str | None
            read_only: bool
            is_default: bool = v("0", default=False)
            config_source: i8 = v("1+", default=-1)
            is_sensitive: bool
            synonyms: list[Synonym] = v("1+", default=[])
            config_type: i8 = v("3+", default=0)
            documentation: str | None = v("3+", default="")

            class Synonym(Struct):
                name: str
                value: str | None
                source: i8
