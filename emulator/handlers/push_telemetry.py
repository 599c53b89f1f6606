"""PushTelemetry (72): metrics of a client. They are checked, and nobody reads them.

Kafka 4.3 answers this without advertising it, unless a plug-in takes metrics.

Not emulated: metrics that come too often; what becomes of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import NO_ID, Error, WireError
from ...wire.api.push_telemetry import PushTelemetryRequest, PushTelemetryResponse
from ...wire.compression import decompress
from ..dispatch import Call, handles
from ..telemetry import COMPRESSIONS, MAX_BYTES, subscription_id

if TYPE_CHECKING:
    from ..cluster import Cluster


@handles(PushTelemetryRequest)
def push(cluster: Cluster, call: Call, request: PushTelemetryRequest) -> PushTelemetryResponse:
    return PushTelemetryResponse(error_code=_check(cluster, request))


def _check(cluster: Cluster, request: PushTelemetryRequest) -> Error:
    client, codec = request.client_instance_id, request.compression_type
    if client == NO_ID:
        return Error.INVALID_REQUEST
    if client not in cluster.telemetry or request.subscription_id != subscription_id(client):
        return Error.UNKNOWN_SUBSCRIPTION_ID
    if codec not in (0, *COMPRESSIONS):
        return Error.UNSUPPORTED_COMPRESSION_TYPE
    if len(request.metrics) > MAX_BYTES:
        return Error.TELEMETRY_TOO_LARGE
    if codec and request.metrics:
        try:
            decompress(codec, request.metrics, MAX_BYTES)
        except WireError:
            return Error.INVALID_RECORD
    return Error.NONE
