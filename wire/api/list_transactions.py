"""ListTransactions (66): transactional ids that a broker coordinates."""

from __future__ import annotations

from ..schema import Request, Response, Struct, i16, i32, i64, v


class ListTransactionsRequest(Request, api=66, versions="0-2", flexible="0+"):
    """Ask for transactions, optionally by state, producer, age in ms or pattern."""

    state_filters: list[str]
    producer_id_filters: list[i64]
    duration_filter: i64 = v("1+", default=-1)
    transactional_id_pattern: str | None = v("2+", default=None)


class ListTransactionsResponse(Response, api=66, versions="0-2", flexible="0+"):
    """The transactions of this broker."""

    throttle_time_ms: i32 = 0
    error_code: i16 = 0
    unknown_state_filters: list[str]
    transaction_states: list[TransactionState]

    class TransactionState(Struct):
        transactional_id: str
        producer_id: i64
        transaction_state: str
