"""SaslAuthenticate (36): one exchange of SASL tokens."""

from __future__ import annotations

from ..schema import Request, Response, i16, i64, v


class SaslAuthenticateRequest(Request, api=36, versions="0-2", flexible="2+"):
    """The client's token."""

    auth_bytes: bytes = b""


class SaslAuthenticateResponse(Response, api=36, versions="0-2", flexible="2+"):
    """The broker's token, and how long the session is valid."""

    error_code: i16 = 0
    error_message: str | None
    auth_bytes: bytes = b""
    session_lifetime_ms: i64 = v("1+", default=0)
