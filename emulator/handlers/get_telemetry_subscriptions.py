"""GetTelemetrySubscriptions (71): which metrics clients are to push: none.

Kafka 4.3 answers this without advertising it, unless a plug-in takes metrics. A client without an
id gets one. The id of a subscription follows from what is asked for, and of whom.

Not emulated: subscriptions (configs of the resource type 16): nobody would read the metrics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import NO_ID, random_id
from ...wire.api.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)
from ..dispatch import Call, handles
from ..telemetry import COMPRESSIONS, INTERVAL_MS, MAX_BYTES, subscription_id

if TYPE_CHECKING:
    from ..cluster import Cluster


@handles(GetTelemetrySubscriptionsRequest)
def get_subscriptions(
    cluster: Cluster, call: Call, request: GetTelemetrySubscriptionsRequest
) -> GetTelemetrySubscriptionsResponse:
    given = request.client_instance_id
    client = random_id() if given == NO_ID else given
    cluster.telemetry.add(client)
    return GetTelemetrySubscriptionsResponse(
        client_instance_id=client,
        subscription_id=subscription_id(client),
        accepted_compression_types=list(COMPRESSIONS),
        push_interval_ms=INTERVAL_MS,
        telemetry_max_bytes=MAX_BYTES,
        delta_temporality=True,
        requested_metrics=[],
    )
