"""Transactional ids, as `__transaction_state` keeps them: key and value of a record.

A key begins with its record type, a value with its version (keyed.py). A null value deletes the id.
"""

from __future__ import annotations

from ..schema import Message, Struct, i8, i16, i32, i64, tag
from .keyed import Key


class TransactionLogKey(Key, record_types="0", versions="0"):
    """The transactional id."""

    transactional_id: str


class TransactionLogValue(Message, versions="0-1", flexible="1+"):
    """The state of a transaction; null partitions once it is over. Times in ms."""

    producer_id: i64
    previous_producer_id: i64 = tag(0, "1+", default=-1)
    next_producer_id: i64 = tag(1, "1+", default=-1)
    producer_epoch: i16
    next_producer_epoch: i16 = tag(3, "1+", default=-1)
    transaction_timeout_ms: i32
    transaction_status: i8
    transaction_partitions: list[Partitions] | None
    transaction_last_update_timestamp_ms: i64
    transaction_start_timestamp_ms: i64
    client_transaction_version: i16 = tag(2, "1+", default=0)

    class Partitions(Struct):
        topic: str
        partition_ids: list[i32]
