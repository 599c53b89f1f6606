"""ApiVersions (18): what this broker serves, read off the registry of handlers.

A client that asks in a version we do not know is answered in v0 with UNSUPPORTED_VERSION and the
range of ApiVersions itself (KIP-511). Features: what the cluster has finalized (KIP-584).

Not emulated: the supported features beyond the finalized ones' own ranges.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...wire import Error
from ...wire.api.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ..dispatch import SERVED, Call, handles

if TYPE_CHECKING:
    from ..cluster import Cluster

_NAME = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
# What a 4.3 cluster offers; a client turns on transactions of the second generation, or new
# group protocols, by what is finalized, so only what is emulated is.
SUPPORTED_FEATURES = {"metadata.version": (7, 30), "kraft.version": (0, 1)}
FINALIZED_FEATURES = {"metadata.version": 30}


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
            for key, (first, last) in served_versions().items()
        ],
        supported_features=[
            ApiVersionsResponse.SupportedFeature(name=name, min_version=first, max_version=last)
            for name, (first, last) in SUPPORTED_FEATURES.items()
            # Before v4 a client could not read a range that begins at 0.
            if first > 0 or call.version >= 4
        ],
        finalized_features_epoch=cluster.features_epoch,
        finalized_features=[
            ApiVersionsResponse.FinalizedFeature(
                name=name, min_version_level=level, max_version_level=level
            )
            for name, level in FINALIZED_FEATURES.items()
        ],
    )


def served_versions() -> dict[int, tuple[int, int]]:
    """First and last advertised version of every API, in the order of their keys."""
    return {key: SERVED[key].advertised for key in sorted(SERVED)}


def fallback() -> ApiVersionsResponse:
    """The answer, in v0, to a version of ApiVersions that we do not know."""
    first, last = SERVED[ApiVersionsRequest.api_key].advertised
    return ApiVersionsResponse(
        error_code=Error.UNSUPPORTED_VERSION,
        api_keys=[
            ApiVersionsResponse.Api(
                api_key=ApiVersionsRequest.api_key, min_version=first, max_version=last
            )
        ],
    )
