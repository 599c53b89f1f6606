"""ApiVersions (18): which APIs and versions does the broker serve?"""

from __future__ import annotations

from ..schema import Request, Response, Struct, i16, i32, i64, tag, v


class ApiVersionsRequest(Request, api=18, versions="0-4", flexible="3+"):
    """Introduce the client; the first thing most clients send."""

    client_software_name: str = v("3+", default="")
    client_software_version: str = v("3+", default="")


class ApiVersionsResponse(Response, api=18, versions="0-4", flexible="3+"):
    """The range of versions of each API, and the features of the cluster."""

    error_code: i16 = 0
    api_keys: list[Api]
    throttle_time_ms: i32 = v("1+", default=0)
    supported_features: list[SupportedFeature] = tag(0, "3+", default=[])
    finalized_features_epoch: i64 = tag(1, "3+", default=-1)
    finalized_features: list[FinalizedFeature] = tag(2, "3+", default=[])
    zk_migration_ready: bool = tag(3, "3+", default=False)

    class Api(Struct):
        api_key: i16
        min_version: i16
        max_version: i16

    class SupportedFeature(Struct):
        name: str
        min_version: i16
        max_version: i16

    class FinalizedFeature(Struct):
        name: str
        max_version_level: i16
        min_version_level: i16
