"""DescribeDelegationToken (41): find delegation tokens."""

from __future__ import annotations

from ..schema import Request, Response, Struct, i16, i32, i64, v


class DescribeDelegationTokenRequest(Request, api=41, versions="0-3", flexible="2+"):
    """Ask for tokens of these owners; null means all."""

    owners: list[Owner] | None

    class Owner(Struct):
        principal_type: str
        principal_name: str


class DescribeDelegationTokenResponse(Response, api=41, versions="0-3", flexible="2+"):
    """The tokens."""

    error_code: i16 = 0
    tokens: list[Token]
    throttle_time_ms: i32 = 0

    class Token(Struct):
        principal_type: str
        principal_name: str
        token_requester_principal_type: str = v("3+", default="")
        token_requester_principal_name: str = v("3+", default="")
        issue_timestamp: i64
        expiry_timestamp: i64
        max_timestamp: i64
        token_id: str
        hmac: bytes
        renewers: list[Renewer]

        class Renewer(Struct):
            principal_type: str
            principal_name: str
