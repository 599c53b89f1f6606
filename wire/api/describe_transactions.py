"""DescribeTransactions (65): states of transactional ids."""

from __future__ import annotations

from ..schema import Request, Response, Struct, i16, i32, i64


class DescribeTransactionsRequest(Request, api=65, versions="0", flexible="0+"):
    """Ask for these transactional ids."""

    transactional_ids: list[str]


class DescribeTransactionsResponse(Response, api=65, versions="0", flexible="0+"):
    """Their states, and the partitions in them."""

    throttle_time_ms: i32 = 0
    transaction_states: list[TransactionState]

    class TransactionState(Struct):
        error_code: i16 = 0
        transactional_id: str
        transaction_state: str
        transaction_timeout_ms: i32
        transaction_start_time_ms: i64
        producer_id: i64
        producer_epoch: i16
        topics: list[Topic]

        class Topic(Struct):
            topic: str
            partitions: list[i32]
