"""ExpireDelegationToken (40): expire a delegation token sooner."""

from __future__ import annotations

from ..schema import Request, Response, i16, i32, i64


class ExpireDelegationTokenRequest(Request, api=40, versions="0-2", flexible="2+"):
    """Expire a token; a negative period means at once."""

    hmac: bytes
    expiry_time_period_ms: i64


class ExpireDelegationTokenResponse(Response, api=40, versions="0-2", flexible="2+"):
    """When it expires now."""

    error_code: i16 = 0
    expiry_timestamp_ms: i64
    throttle_time_ms: i32 = 0
