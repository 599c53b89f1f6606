"""What a coordinator stands on: records of `__transaction_state`, markers, events.

Where logs are flushed by number (flush.messages), a record is on disk before anything follows from
it, and what it describes is on disk before it: else a power cut could leave half a transaction, or
one that is open for ever.

Records (semantics H10): values are v1 from transaction.version 1 on, else v0, which has no tags: no
previous and next producer id, and no client's generation. The list of partitions is null while an
id is Empty. The epoch that an initialization may repeat is not stored, as on a real broker.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...wire import Error, Refused, WireError
from ...wire.batch import read_header
from ...wire.records import NewRecord, Record, build_batch
from ...wire.stored.keyed import keyed, read_key, read_value
from ...wire.stored.transactions import TransactionLogKey, TransactionLogValue
from ..base.call import as_coordinator
from ..base.java_order import partition_for
from ..config.internal_topics import TRANSACTION_STATE
from ..partitions.partition import NO_LEADER
from .admission import Marker, write_marker
from .transaction import OVERDUE, Key, State, Transaction, state_of

if TYPE_CHECKING:
    from ..base.journal import Journal
    from ..broker import ClusterState
    from ..groups.coordinators import Groups
    from ..metadata.topics import Catalogue
    from ..partitions.partition import Partition

_TYPE = 0
Partitions = TransactionLogValue.Partitions


def encoded_key(transactional_id: str) -> bytes:
    """The key of an id's records."""
    return keyed(TransactionLogKey(transactional_id=transactional_id), _TYPE)


def encoded_value(transaction: Transaction, level: int) -> bytes:
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


_ENDS = {
    State.PREPARE_COMMIT: "transaction committed",
    State.PREPARE_ABORT: "transaction aborted",
}


def tell_step(journal: Journal, before: Transaction | None, after: Transaction, why: str) -> None:
    """The state after a step, and before it: a begin, or an end when it is decided. `why` it is
    aborted, if not by its producer."""
    was = State.EMPTY if before is None else before.state
    if after.state is State.ONGOING and was is not State.ONGOING:
        kind = "transaction begun"
    elif after.state in _ENDS and was is State.ONGOING:
        kind = "transaction timed out" if why.startswith(OVERDUE) else _ENDS[after.state]
    else:
        return
    journal.add(kind, transactional_id=after.transactional_id, reason=why)


class Environment:
    """The environment of the coordinator of a broker: time, ids, its topic."""

    def __init__(self, state: ClusterState, groups: Groups, node_id: int) -> None:
        self._state = state
        self._groups = groups
        self._node_id = node_id

    def now(self) -> int:
        """The time in milliseconds."""
        return self._state.environment.clock.now()

    def level(self) -> int:
        """The finalized transaction.version."""
        return self._state.features.level("transaction.version")

    def new_producer_id(self) -> int:
        return self._state.brokers[self._node_id].next_producer_id()

    def soon(self, callback: Callable[[], None]) -> None:
        """Call back once the current request is answered, or later."""
        self._state.once_decided(callback)

    def at(self, when: int, callback: Callable[[], None]) -> None:
        self._state.environment.timers.at(when, callback)

    def tell(self, before: Transaction | None, after: Transaction, why: str) -> None:
        """A step was taken: log what has begun or ended, if anything."""
        tell_step(self._state.environment.journal, before, after, why)

    def write(self, transactional_id: str, transaction: Transaction | None) -> None:
        """Append a record, or the tombstone of an id. Raises Refused with the code that a
        coordinator answers."""
        now = self.now() if transaction is None else transaction.last_update_ms
        value = None if transaction is None else encoded_value(transaction, self.level())
        batch = build_batch([NewRecord(now, encoded_key(transactional_id), value)])
        try:
            partition = partition_of(self._state.topics, transactional_id)
            partition.check_in_sync()
            if len(batch) > partition.topic.config.max_message_bytes:
                raise Refused(Error.MESSAGE_TOO_LARGE)
            flusher = self._state.log_manager.flusher
            flusher.drain()  # the markers, before the record that says that they are written
            partition.append(batch, read_header(batch), self.now())
            flusher.drain()
        except Refused as refused:
            raise as_coordinator(refused) from refused

    def write_marker(self, transaction: Transaction, key: Key) -> None:
        """End a prepared transaction in a partition, if it still exists. One that nobody leads is
        passed over: there the transaction stays open until the next one ends. Raises Refused:
        NOT_LEADER_OR_FOLLOWER if its leader does not answer, and as `write_marker` does."""
        name, index = key
        topic = self._state.topics.get(name)
        if topic is None or not 0 <= index < len(topic.partitions):
            return
        leader = topic.partitions[index].leader
        if leader == NO_LEADER:
            return
        if not self._state.replication.is_up(leader):
            raise Refused(Error.NOT_LEADER_OR_FOLLOWER)
        marker = Marker(
            transaction.producer_id,
            transaction.epoch,
            transaction.state.commits,
            partition_of(self._state.topics, transaction.transactional_id).leader_epoch,
            transaction.client_version,
        )
        write_marker(topic.partitions[index], marker, self.now(), self._groups)


def partition_of(topics: Catalogue, transactional_id: str) -> Partition:
    """The partition that keeps an id. Raises Refused(UNKNOWN_TOPIC_OR_PARTITION)."""
    partitions = topics.named(TRANSACTION_STATE).partitions
    return partitions[partition_for(transactional_id, len(partitions))]
