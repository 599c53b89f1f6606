"""ApiVersions (18): what this broker serves, read off the registry of handlers.

A client that asks in a version we do not know is answered in v0 with UNSUPPORTED_VERSION and the
range of ApiVersions itself (KIP-511). Features: what the cluster has finalized (KIP-584).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...wire import Error
from ...wire.api.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ..base.call import Call
from ..base.release import Release
from ..metadata.features import supported_by
from .registry import SERVED, handles

if TYPE_CHECKING:
    from ..cluster import Cluster

_NAME = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


@handles(ApiVersionsRequest)
def api_versions(cluster: Cluster, call: Call, request: ApiVersionsRequest) -> ApiVersionsResponse:
    if call.version >= 3 and not (
        _NAME.fullmatch(request.client_software_name)
        and _NAME.fullmatch(request.client_software_version)
    ):
        return ApiVersionsResponse(error_code=Error.INVALID_REQUEST, api_keys=[])
    return ApiVersionsResponse(
        api_keys=[
            ApiVersionsResponse.Api(api_key=key, min_version=first, max_version=last)
            for key, (first, last) in served_versions(cluster.release).items()
        ],
        supported_features=[
            ApiVersionsResponse.SupportedFeature(name=name, min_version=first, max_version=last)
            for name, (first, last) in supported_by(cluster.release).items()
            # Before v4 a client could not read a range that begins at 0.
            if first > 0 or call.version >= 4
        ],
        finalized_features_epoch=cluster.features.epoch,
        finalized_features=[
            ApiVersionsResponse.FinalizedFeature(
                name=name, min_version_level=level, max_version_level=level
            )
            for name, level in cluster.features.finalized.items()
        ],
    )


def served_versions(release: Release) -> dict[int, tuple[int, int]]:
    """First and last advertised version of every API, in the order of their keys."""
    advertised = release.advertised
    return {key: advertised[key] for key in sorted(SERVED) if key in advertised}


def fallback(release: Release) -> ApiVersionsResponse:
    """The answer, in v0, to a version of ApiVersions that we do not know."""
    first, last = release.advertised[ApiVersionsRequest.api_key]
    return ApiVersionsResponse(
        error_code=Error.UNSUPPORTED_VERSION,
        api_keys=[
            ApiVersionsResponse.Api(
                api_key=ApiVersionsRequest.api_key, min_version=first, max_version=last
            )
        ],
    )
