"""UnregisterBroker (64): remove a broker that will not come back."""

from __future__ import annotations

from ..schema import Request, Response, i16, i32


class UnregisterBrokerRequest(Request, api=64, versions="0", flexible="0+"):
    """Remove this broker."""

    broker_id: i32


class UnregisterBrokerResponse(Response, api=64, versions="0", flexible="0+"):
    """Whether it was removed."""

    throttle_time_ms: i32 = 0
    error_code: i16 = 0
    error_message: str | None
