"""ApiVersions (18): what this broker serves, read off the registry of handlers.

A client that asks in a version we do not know is answered in v0 with UNSUPPORTED_VERSION and the
range of ApiVersions itself (KIP-511). Features: what the cluster has finalized (KIP-584).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ...wire import Error
from ...wire.api.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ..base.call import Call, ClientSoftware
from ..base.release import Release
from .registry import SERVED, Served, handler

if TYPE_CHECKING:
    from ..cluster import Cluster

_NAME = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
_SOFTWARE_SINCE = 3


@handler(ApiVersionsRequest, cached=True)
def api_versions(cluster: Cluster, call: Call, request: ApiVersionsRequest) -> ApiVersionsResponse:
    if call.version >= _SOFTWARE_SINCE and software_of(request, call.version) is None:
        return ApiVersionsResponse(error_code=Error.INVALID_REQUEST, api_keys=[])
    has_kraft = cluster.release.has_kraft
    return ApiVersionsResponse(
        api_keys=[
            ApiVersionsResponse.Api(api_key=key, min_version=first, max_version=last)
            for key, (first, last) in served_versions(cluster.release).items()
        ],
        supported_features=[
            ApiVersionsResponse.SupportedFeature(name=name, min_version=first, max_version=last)
            for name, (first, last) in cluster.release.features.items()
            # Before v4 a client could not read a range that begins at 0.
            if first > 0 or call.version >= 4
        ],
        finalized_features_epoch=(
            cluster.features.epoch if has_kraft else cluster.release.features_epoch
        ),
        finalized_features=[
            ApiVersionsResponse.FinalizedFeature(
                name=name, min_version_level=level, max_version_level=level
            )
            for name, level in (cluster.features.finalized if has_kraft else {}).items()
        ],
    )


def served_versions(release: Release) -> dict[int, tuple[int, int]]:
    """First and last advertised version of every API, in the order of their keys."""
    advertised = release.advertised
    if not release.has_kraft:  # with those that only brokers ask, and none answers here
        return dict(advertised)
    return {key: advertised[key] for key in SERVED if key in advertised}


def note_software(call: Call, request: Any) -> None:
    """Remember on the connection what an ApiVersions request says of its client, if it does."""
    call.connection.software = software_of(request, call.version) or call.software


def software_of(request: ApiVersionsRequest, version: int) -> ClientSoftware | None:
    """What the client is, if it says so (v3+) in letters, digits, dots and hyphens."""
    if version < _SOFTWARE_SINCE:
        return None
    return _software(request.client_software_name, request.client_software_version)


@lru_cache(maxsize=256)
def _software(name: str, version: str) -> ClientSoftware | None:
    is_good = _NAME.fullmatch(name) and _NAME.fullmatch(version)
    return ClientSoftware(name, version) if is_good else None


def unknown_version(
    cluster: Cluster, call: Call, request: ApiVersionsRequest
) -> ApiVersionsResponse:
    """The answer, in v0, to a version of ApiVersions that we do not know."""
    first, last = cluster.release.advertised[ApiVersionsRequest.api_key]
    if not cluster.release.names_versions_of_api_versions:
        return ApiVersionsResponse(error_code=Error.UNSUPPORTED_VERSION, api_keys=[])
    return ApiVersionsResponse(
        error_code=Error.UNSUPPORTED_VERSION,
        api_keys=[
            ApiVersionsResponse.Api(
                api_key=ApiVersionsRequest.api_key, min_version=first, max_version=last
            )
        ],
    )


UNKNOWN_VERSION = Served(ApiVersionsRequest, unknown_version, is_cached=False)
"""What serves a version of ApiVersions that we do not know."""
