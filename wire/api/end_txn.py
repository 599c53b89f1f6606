"""EndTxn (26): commit or abort a transaction."""

from __future__ import annotations

from ..schema import Request, Response, i16, i32, i64, v


class EndTxnRequest(Request, api=26, versions="0-5", flexible="3+"):
    """End the transaction."""

    transactional_id: str
    producer_id: i64
    producer_epoch: i16
    committed: bool


class EndTxnResponse(Response, api=26, versions="0-5", flexible="3+"):
    """Whether it ends; from v5 on also the producer's next epoch."""

    throttle_time_ms: i32 = 0
    error_code: i16 = 0
    producer_id: i64 = v("5+", default=-1)
    producer_epoch: i16 = v("5+", default=-1)
