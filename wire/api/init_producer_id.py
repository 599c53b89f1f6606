"""InitProducerId (22): give an idempotent or transactional producer its id and epoch."""

from __future__ import annotations

from ..schema import Request, Response, i16, i32, i64, v


class InitProducerIdRequest(Request, api=22, versions="0-6", flexible="2+", unstable="6"):
    """Ask for a producer id; with a transactional id, also fence its earlier producers."""

    transactional_id: str | None
    transaction_timeout_ms: i32
    producer_id: i64 = v("3+", default=-1)
    producer_epoch: i16 = v("3+", default=-1)
    enable2_pc: bool = v("6+", default=False)
    keep_prepared_txn: bool = v("6+", default=False)


class InitProducerIdResponse(Response, api=22, versions="0-6", flexible="2+"):
    """The producer's id and epoch."""

    throttle_time_ms: i32 = 0
    error_code: i16 = 0
    producer_id: i64 = -1
    producer_epoch: i16 = 0
    ongoing_txn_producer_id: i64 = v("6+", default=-1)
    ongoing_txn_producer_epoch: i16 = v("6+", default=-1)
