"""GetTelemetrySubscriptions (71): which metrics does the broker want from a client?"""

from __future__ import annotations

from ..schema import UUID, Request, Response, i8, i16, i32


class GetTelemetrySubscriptionsRequest(Request, api=71, versions="0", flexible="0+"):
    """Ask for the subscription; a zero id asks for a new one."""

    client_instance_id: UUID


class GetTelemetrySubscriptionsResponse(Response, api=71, versions="0", flexible="0+"):
    """The metrics wanted, and how often."""

    throttle_time_ms: i32 = 0
    error_code: i16 = 0
    client_instance_id: UUID
    subscription_id: i32
    accepted_compression_types: list[i8]
    push_interval_ms: i32
    telemetry_max_bytes: i32
    delta_temporality: bool
    requested_metrics: list[str]
