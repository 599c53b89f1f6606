"""AlterUserScramCredentials (51): set or remove SCRAM credentials."""

from __future__ import annotations

from ..schema import Request, Response, Struct, i8, i16, i32


class AlterUserScramCredentialsRequest(Request, api=51, versions="0", flexible="0+"):
    """Remove and set credentials."""

    deletions: list[Deletion]
    upsertions: list[Upsertion]

    class Deletion(Struct):
        name: str
        mechanism: i8

    class Upsertion(Struct):
        name: str
        mechanism: i8
        iterations: i32
        salt: bytes
        salted_password: bytes


class AlterUserScramCredentialsResponse(Response, api=51, versions="0", flexible="0+"):
    """Whether each user was changed."""

    throttle_time_ms: i32 = 0
    results: list[Result]

    class Result(Struct):
        user: str
        error_code: i16 = 0
        error_message: str | None
