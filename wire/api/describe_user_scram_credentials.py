"""DescribeUserScramCredentials (50): which SCRAM credentials do users have?"""

from __future__ import annotations

from ..schema import Request, Response, Struct, i8, i16, i32


class DescribeUserScramCredentialsRequest(Request, api=50, versions="0", flexible="0+"):
    """Ask for users; null means all."""

    users: list[User] | None

    class User(Struct):
        name: str


class DescribeUserScramCredentialsResponse(Response, api=50, versions="0", flexible="0+"):
    """Mechanisms and iterations, no secrets."""

    throttle_time_ms: i32 = 0
    error_code: i16 = 0
    error_message: str | None
    results: list[Result]

    class Result(Struct):
        user: str
        error_code: i16 = 0
        error_message: str | None
        credential_infos: list[CredentialInfo]

        class CredentialInfo(Struct):
            mechanism: i8
            iterations: i32
