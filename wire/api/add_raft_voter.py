"""AddRaftVoter (80): add a voter to the metadata quorum."""

from __future__ import annotations

from ..schema import UUID, Request, Response, Struct, i16, i32, u16, v


class AddRaftVoterRequest(Request, api=80, versions="0-1", flexible="0+"):
    """Add this voter."""

    cluster_id: str | None
    timeout_ms: i32
    voter_id: i32
    voter_directory_id: UUID
    listeners: list[Listener]
    ack_when_committed: bool = v("1+", default=True)

    class Listener(Struct):
        name: str
        host: str
        port: u16


class AddRaftVoterResponse(Response, api=80, versions="0-1", flexible="0+"):
    """Whether it was added."""

    throttle_time_ms: i32 = 0
    error_code: i16 = 0
    error_message: str | None
