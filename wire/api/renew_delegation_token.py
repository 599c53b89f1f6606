"""RenewDelegationToken (39): extend the life of a delegation token."""

from __future__ import annotations

from ..schema import Request, Response, i16, i32, i64


class RenewDelegationTokenRequest(Request, api=39, versions="0-2", flexible="2+"):
    """Renew a token."""

    hmac: bytes
    renew_period_ms: i64


class RenewDelegationTokenResponse(Response, api=39, versions="0-2", flexible="2+"):
    """When it expires now."""

    error_code: i16 = 0
    expiry_timestamp_ms: i64
    throttle_time_ms: i32 = 0
