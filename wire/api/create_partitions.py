"""CreatePartitions (37): add partitions to topics."""

from __future__ import annotations

from ..schema import Request, Response, Struct, i16, i32


class CreatePartitionsRequest(Request, api=37, versions="0-3", flexible="2+"):
    """Raise topics to this many partitions."""

    topics: list[Topic]
    timeout_ms: i32
    validate_only: bool

    class Topic(Struct):
        name: str
        count: i32
        assignments: list[Assignment] | None

        class Assignment(Struct):
            broker_ids: list[i32]


class CreatePartitionsResponse(Response, api=37, versions="0-3", flexible="2+"):
    """Whether each topic was changed."""

    throttle_time_ms: i32 = 0
    results: list[Result]

    class Result(Struct):
        name: str
        error_code: i16 = 0
        error_message: str | None = None
