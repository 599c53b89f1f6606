"""CreateDelegationToken (38): create a delegation token."""

from __future__ import annotations

from ..schema import Request, Response, Struct, i16, i32, i64, v


class CreateDelegationTokenRequest(Request, api=38, versions="0-3", flexible="2+"):
    """Create a token for a principal."""

    owner_principal_type: str | None = v("3+", default="")
    owner_principal_name: str | None = v("3+", default="")
    renewers: list[Renewer]
    max_lifetime_ms: i64

    class Renewer(Struct):
        principal_type: str
        principal_name: str


class CreateDelegationTokenResponse(Response, api=38, versions="0-3", flexible="2+"):
    """The token, and its secret."""

    error_code: i16 = 0
    principal_type: str
    principal_name: str
    token_requester_principal_type: str = v("3+", default="")
    token_requester_principal_name: str = v("3+", default="")
    issue_timestamp_ms: i64
    expiry_timestamp_ms: i64
    max_timestamp_ms: i64
    token_id: str
    hmac: bytes
    throttle_time_ms: i32 = 0
