"""Metrics of clients: GetTelemetrySubscriptions and PushTelemetry."""

from __future__ import annotations

from typing import Any

from odradek.emulator.config.telemetry import subscription_id
from odradek.wire.api.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)
from odradek.wire.api.push_telemetry import PushTelemetryRequest

from tests.requests.asker import Asker

ONE = bytes(range(16))
"""The id of a client."""


def subscribe(client: Asker, client_id: bytes = ONE) -> GetTelemetrySubscriptionsResponse:
    request = GetTelemetrySubscriptionsRequest(client_instance_id=client_id)
    answer: GetTelemetrySubscriptionsResponse = client.ask(request, 0)
    return answer


def push(client: Asker, client_id: bytes = ONE, **more: Any) -> int:
    fields: dict[str, Any] = {
        "subscription_id": subscription_id(client_id),
        "terminating": False,
        "compression_type": 0,
        "metrics": b"",
        **more,
    }
    request = PushTelemetryRequest(client_instance_id=client_id, **fields)
    code: int = client.ask(request, 0).error_code
    return code
