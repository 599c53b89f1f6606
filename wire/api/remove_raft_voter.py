"""RemoveRaftVoter (81): remove a voter from the metadata quorum."""

from __future__ import annotations

from ..schema import UUID, Request, Response, i16, i32


class RemoveRaftVoterRequest(Request, api=81, versions="0", flexible="0+"):
    """Remove this voter."""

    cluster_id: str | None
    voter_id: i32
    voter_directory_id: UUID


class RemoveRaftVoterResponse(Response, api=81, versions="0", flexible="0+"):
    """Whether it was removed."""

    throttle_time_ms: i32 = 0
    error_code: i16 = 0
    error_message: str | None
