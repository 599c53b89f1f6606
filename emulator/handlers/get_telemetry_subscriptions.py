"""GetTelemetrySubscriptions (71): which metrics clients are to push: none.

Kafka 4.3 answers this without advertising it, unless a plug-in takes metrics. A client without an
id gets one. Who may ask when: config/telemetry.py.

Not emulated: subscriptions (configs of the resource type 16): nobody would read the metrics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import NO_ID, Refused, random_id
from ...wire.api.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)
from ..base.call import Call
from ..config.telemetry import COMPRESSIONS, INTERVAL_MS, MAX_BYTES, subscription_id
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster


@handler(GetTelemetrySubscriptionsRequest)
def get_subscriptions(
    cluster: Cluster, call: Call, request: GetTelemetrySubscriptionsRequest
) -> GetTelemetrySubscriptionsResponse:
    given = request.client_instance_id
    client_id = random_id() if given == NO_ID else given
    try:
        cluster.telemetry.client(call.connection, client_id).ask(call.now)
    except Refused as refused:
        return GetTelemetrySubscriptionsResponse(
            error_code=refused.error,
            client_instance_id=NO_ID,
            subscription_id=0,
            accepted_compression_types=[],
            push_interval_ms=0,
            telemetry_max_bytes=0,
            delta_temporality=False,
            requested_metrics=[],
        )
    return GetTelemetrySubscriptionsResponse(
        client_instance_id=client_id,
        subscription_id=subscription_id(client_id),
        accepted_compression_types=list(COMPRESSIONS),
        push_interval_ms=INTERVAL_MS,
        telemetry_max_bytes=MAX_BYTES,
        delta_temporality=True,
        requested_metrics=[],
    )
