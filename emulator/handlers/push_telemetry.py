"""PushTelemetry (72): metrics of a client. They are checked, and nobody reads them.

Kafka 4.3 answers this without advertising it, unless a plug-in takes metrics. Who may push when:
config/telemetry.py.

Not emulated: what becomes of the metrics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import NO_ID, Error, Refused, WireError
from ...wire.api.push_telemetry import PushTelemetryRequest, PushTelemetryResponse
from ...wire.compression import decompress
from ..base.call import Call
from ..config.telemetry import COMPRESSIONS, MAX_BYTES, subscription_id
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster


@handler(PushTelemetryRequest)
def push(cluster: Cluster, call: Call, request: PushTelemetryRequest) -> PushTelemetryResponse:
    if request.client_instance_id == NO_ID:
        return PushTelemetryResponse(error_code=Error.INVALID_REQUEST)
    client = cluster.telemetry.client(call.connection, request.client_instance_id)
    try:
        client.push(call.now, request.terminating)
    except Refused as refused:
        return PushTelemetryResponse(error_code=refused.error)
    client.last_error = _check(request)
    return PushTelemetryResponse(error_code=client.last_error)


def _check(request: PushTelemetryRequest) -> Error:
    codec = request.compression_type
    if request.subscription_id != subscription_id(request.client_instance_id):
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
