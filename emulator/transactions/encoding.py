"""Transactional ids as the records of `__transaction_state`, and back (semantics H10).

Values are v1 from transaction.version 1 on, else v0, which has no tags: no previous and next
producer id, and no client's generation. The list of partitions is null while an id is Empty. The
epoch that an initialization may repeat is not stored, as on a real broker.
"""

from __future__ import annotations

from ...wire import WireError
from ...wire.records import Record
from ...wire.stored.keyed import keyed, read_key, read_value
from ...wire.stored.transactions import TransactionLogKey, TransactionLogValue
from .states import State, state_of
from .transaction import Transaction

_TYPE = 0
Partitions = TransactionLogValue.Partitions


def encoded_key(transactional_id: str) -> bytes:
    """The key of an id's records."""
    return keyed(TransactionLogKey(transactional_id=transactional_id), _TYPE)


def encoded_value(transaction: Transaction, level: int) -> bytes:
    """The value of a record, at a level of the feature transaction.version."""
    value = TransactionLogValue(
        producer_id=transaction.producer_id,
        previous_producer_id=transaction.previous_producer_id if level else -1,
        next_producer_id=transaction.next_producer_id if level else -1,
        producer_epoch=transaction.epoch,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_status=transaction.state.number,
        transaction_partitions=_by_topic(transaction),
        transaction_last_update_timestamp_ms=transaction.last_update_ms,
        transaction_start_timestamp_ms=transaction.start_ms,
        client_transaction_version=transaction.client_version if level else 0,
    )
    return keyed(value, min(level, 1))


def decoded(record: Record) -> tuple[str, Transaction | None]:
    """The id of a record, and its state; None for a tombstone. Raises WireError."""
    if record.key is None:
        raise WireError(f"record {record.offset} of __transaction_state has no key")
    key, _ = read_key((TransactionLogKey,), record.key)
    transactional_id = key.transactional_id
    if record.value is None:
        return transactional_id, None
    value, _ = read_value(TransactionLogValue, record.value)
    try:
        state = state_of(value.transaction_status)
    except ValueError as error:
        raise WireError(str(error)) from None
    return transactional_id, Transaction(
        transactional_id,
        value.producer_id,
        value.transaction_timeout_ms,
        previous_producer_id=value.previous_producer_id,
        next_producer_id=value.next_producer_id,
        epoch=value.producer_epoch,
        state=state,
        partitions=tuple(
            (topic.topic, index)
            for topic in value.transaction_partitions or ()
            for index in topic.partition_ids
        ),
        last_update_ms=value.transaction_last_update_timestamp_ms,
        start_ms=value.transaction_start_timestamp_ms,
        client_version=value.client_transaction_version,
    )


def _by_topic(transaction: Transaction) -> list[Partitions] | None:
    if transaction.state is State.EMPTY:
        return None
    topics: dict[str, list[int]] = {}
    for topic, index in transaction.partitions:
        topics.setdefault(topic, []).append(index)
    return [Partitions(topic=topic, partition_ids=ids) for topic, ids in topics.items()]
