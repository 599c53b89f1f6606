"""PushTelemetry (72): a client's metrics."""

from __future__ import annotations

from ..schema import UUID, Request, Response, i8, i16, i32


class PushTelemetryRequest(Request, api=72, versions="0", flexible="0+"):
    """Metrics in OTLP, which may be compressed."""

    client_instance_id: UUID
    subscription_id: i32
    terminating: bool
    compression_type: i8
    metrics: bytes


class PushTelemetryResponse(Response, api=72, versions="0", flexible="0+"):
    """Whether they were accepted."""

    throttle_time_ms: i32 = 0
    error_code: i16 = 0
