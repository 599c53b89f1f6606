"""AddOffsetsToTxn (25): add a group's offsets to a transaction."""

from __future__ import annotations

from ..schema import Request, Response, i16, i32, i64


class AddOffsetsToTxnRequest(Request, api=25, versions="0-4", flexible="3+"):
    """Add the partition that keeps a group's offsets to a transaction."""

    transactional_id: str
    producer_id: i64
    producer_epoch: i16
    group_id: str


class AddOffsetsToTxnResponse(Response, api=25, versions="0-4", flexible="3+"):
    """Whether it was added."""

    throttle_time_ms: i32 = 0
    error_code: i16 = 0
