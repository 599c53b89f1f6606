"""DeleteTopics (20): delete topics by name, or by id from v6 on."""

from __future__ import annotations

from ..primitives import NO_ID
from ..schema import UUID, Request, Response, Struct, i16, i32, v


class DeleteTopicsRequest(Request, api=20, versions="0-6", flexible="4+"):
    """Delete these topics."""

    topics: list[Topic] = v("6+", default=[])
    topic_names: list[str] = v("0-5", default=[])
    timeout_ms: i32

    class Topic(Struct):
        name: str | None = None
        topic_id: UUID


class DeleteTopicsResponse(Response, api=20, versions="0-6", flexible="4+"):
    """Whether each topic was deleted."""

    throttle_time_ms: i32 = v("1+", default=0)
    responses: list[Topic]

    class Topic(Struct):
        name: str | None = v(nullable="6+")
        topic_id: UUID = v("6+", default=NO_ID)
        error_code: i16 = 0
        error_message: str | None = v("5+", default=None)
