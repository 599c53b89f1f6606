"""FindCoordinator (10): which broker coordinates this group or transactional id?"""

from __future__ import annotations

from ..schema import Request, Response, Struct, i8, i16, i32, v


class FindCoordinatorRequest(Request, api=10, versions="0-6", flexible="3+"):
    """Ask where a group (type 0), transactional id (1) or share partition (2) is coordinated."""

    key: str = v("0-3", default="")
    key_type: i8 = v("1+", default=0)
    coordinator_keys: list[str] = v("4+", default=[])


class FindCoordinatorResponse(Response, api=10, versions="0-6", flexible="3+"):
    """The coordinator's address; one for each key from v4 on."""

    throttle_time_ms: i32 = v("1+", default=0)
    error_code: i16 = v("0-3", default=0)
    error_message: str | None = v("1-3", default="")
    node_id: i32 = v("0-3", default=0)
    host: str = v("0-3", default="")
    port: i32 = v("0-3", default=0)
    coordinators: list[Coordinator] = v("4+", default=[])

    class Coordinator(Struct):
        key: str
        node_id: i32
        host: str
        port: i32
        error_code: i16 = 0
        error_message: str | None
