"""The coordinators and their topic: records appended to `__transaction_state`, and replayed.

A broker coordinates the transactional ids that are kept in the partitions it leads. When a
partition gets another leader, the old one drops its ids from memory, and the new one loads them
from the log. The coordinator's epoch, which markers carry, is the leader epoch of that partition.

The topic is created when a coordinator is first looked for (FindCoordinator); before that every
request about a transactional id is answered NOT_COORDINATOR, as on a real broker.

Where logs are flushed by number (flush.messages), a record is on disk before anything follows from
it, and what it describes is on disk before it: else a power cut could leave half a transaction, or
one that is open for ever.

Left out: the time that a real broker takes to load a partition.

Records (semantics H10): values are v1 from transaction.version 1 on, else v0, which has no tags: no
previous and next producer id, and no client's generation. The list of partitions is null while an
id is Empty. The epoch that an initialization may repeat is not stored, as on a real broker.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from ...wire import Error, Refused, WireError
from ...wire.batch import read_header
from ...wire.records import NewRecord, Record, build_batch, read_records
from ...wire.stored.keyed import keyed, read_key, read_value
from ...wire.stored.transactions import TransactionLogKey, TransactionLogValue
from ..base.coordinator_errors import as_coordinator
from ..base.java_order import partition_for
from ..base.logger import log
from ..config.internal_topics import TRANSACTION_STATE
from ..partitions.partition import NO_LEADER
from .admission import Marker, write_marker
from .coordinator import TransactionCoordinator, TransactionSettings, tell_step
from .transaction import Key, State, Transaction, state_of

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..config.configs import BrokerConfig
    from ..metadata.delta import MetadataDelta
    from ..metadata.image import MetadataImage
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


class Transactions:
    """The transaction coordinators of a cluster, one for each broker, on their topic."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._coordinators: dict[int, TransactionCoordinator] = {}
        for node_id, broker in cluster.brokers.items():
            self.add(node_id, broker.config)
        # Partition to the node that has it loaded.
        self._loaded: dict[int, int] = {}

    def add(self, node_id: int, config: BrokerConfig) -> None:
        """One more broker, which coordinates nothing yet."""
        environment = Environment(self._cluster, node_id)
        self._coordinators[node_id] = TransactionCoordinator(environment, settings_of(config))

    def remove(self, node_id: int) -> None:
        del self._coordinators[node_id]

    def at(self, node_id: int) -> TransactionCoordinator:
        return self._coordinators[node_id]

    def asked_at(self, node_id: int, transactional_id: str) -> TransactionCoordinator:
        """The coordinator of the broker that is asked about an id; it refuses an empty one itself.

        Raises Refused(NOT_COORDINATOR) if another broker coordinates the id, or none.
        """
        if transactional_id and self.leader_of(transactional_id) != node_id:
            raise Refused(Error.NOT_COORDINATOR)
        return self._coordinators[node_id]

    def coordinator_for(self, transactional_id: str) -> TransactionCoordinator:
        """The coordinator of an id, at whichever broker; any refuses an empty one.

        Raises Refused(NOT_COORDINATOR) if there is none.
        """
        coordinator = self._coordinators.get(self.leader_of(transactional_id))
        if coordinator is not None:
            return coordinator
        if transactional_id:
            raise Refused(Error.NOT_COORDINATOR)
        return next(iter(self._coordinators.values()))

    def leader_of(self, transactional_id: str) -> int:
        """The id of the node that coordinates a transactional id, or -1."""
        topic = self._cluster.topics.get(TRANSACTION_STATE)
        if topic is None:
            return NO_LEADER
        return self._loaded.get(partition_for(transactional_id, len(topic.partitions)), NO_LEADER)

    def all(self) -> list[Transaction]:
        return [each for one in self._coordinators.values() for each in one.transactions.values()]

    def shift(self, milliseconds: int) -> None:
        for coordinator in self._coordinators.values():
            coordinator.shift(milliseconds)

    def ensure_topic(self) -> None:
        """Create `__transaction_state` if there is none yet. Raises Refused."""
        self._cluster.topics.ensure_internal(TRANSACTION_STATE)

    # Changes of the metadata

    def __call__(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """Follow the leaders of the topic. Where another one has changed, markers that could not be
        written may be now."""
        if delta.partitions:
            for coordinator in self._coordinators.values():
                coordinator.try_again()
        topic = self._cluster.topics.get(TRANSACTION_STATE)
        is_gone = topic is None and bool(self._loaded)
        if not is_gone and (topic is None or not delta.reaches(topic.id)):
            return
        partitions = [] if topic is None else topic.partitions
        leaders = {each.index: each.leader for each in partitions}
        before = self._loaded
        self._loaded = {i: node for i, node in before.items() if leaders.get(i) == node}
        for node_id in {node for i, node in before.items() if i not in self._loaded}:
            self._coordinators[node_id].resign(partial(self._is_elsewhere, node_id))
        loading = [
            each
            for each in partitions
            if each.index not in self._loaded and each.leader in self._coordinators
        ]
        for partition in loading:
            self._loaded[partition.index] = partition.leader
            _replay(partition, self._coordinators[partition.leader])
        for node_id in {each.leader for each in loading}:
            self._coordinators[node_id].recover()

    def _is_elsewhere(self, node_id: int, transactional_id: str) -> bool:
        return self.leader_of(transactional_id) != node_id


class Environment:
    """The environment of the coordinator of a broker: time, ids, its topic."""

    def __init__(self, cluster: Cluster, node_id: int) -> None:
        self._cluster = cluster
        self._node_id = node_id

    def now(self) -> int:
        """The time in milliseconds."""
        return self._cluster.clock.now()

    def level(self) -> int:
        """The finalized transaction.version."""
        return self._cluster.features.level("transaction.version")

    def new_producer_id(self) -> int:
        return self._cluster.brokers[self._node_id].next_producer_id()

    def soon(self, callback: Callable[[], None]) -> None:
        """Call back once the current request is answered, or later."""
        self._cluster.once_decided(callback)

    def at(self, when: int, callback: Callable[[], None]) -> None:
        self._cluster.timers.at(when, callback)

    def tell(self, before: Transaction | None, after: Transaction, why: str) -> None:
        """A step was taken: log what has begun or ended, if anything."""
        tell_step(self._cluster.journal, before, after, why)

    def write(self, transactional_id: str, transaction: Transaction | None) -> None:
        """Append a record, or the tombstone of an id. Raises Refused with the code that a
        coordinator answers."""
        now = self.now() if transaction is None else transaction.last_update_ms
        value = None if transaction is None else encoded_value(transaction, self.level())
        batch = build_batch([NewRecord(now, encoded_key(transactional_id), value)])
        try:
            partition = partition_of(self._cluster, transactional_id)
            partition.check_in_sync()
            if len(batch) > partition.topic.config.max_message_bytes:
                raise Refused(Error.MESSAGE_TOO_LARGE)
            flusher = self._cluster.log_manager.flusher
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
        topic = self._cluster.topics.get(name)
        if topic is None or not 0 <= index < len(topic.partitions):
            return
        leader = topic.partitions[index].leader
        if leader == NO_LEADER:
            return
        if not self._cluster.replication.is_up(leader):
            raise Refused(Error.NOT_LEADER_OR_FOLLOWER)
        marker = Marker(
            transaction.producer_id,
            transaction.epoch,
            transaction.state.commits,
            partition_of(self._cluster, transaction.transactional_id).leader_epoch,
            transaction.client_version,
        )
        write_marker(self._cluster, topic.partitions[index], marker)


def partition_of(cluster: Cluster, transactional_id: str) -> Partition:
    """The partition that keeps an id. Raises Refused(UNKNOWN_TOPIC_OR_PARTITION)."""
    partitions = cluster.topic(TRANSACTION_STATE).partitions
    return partitions[partition_for(transactional_id, len(partitions))]


def settings_of(config: BrokerConfig) -> TransactionSettings:
    """The settings of transactions by the broker's configs."""
    prefix = "transaction"
    return TransactionSettings(
        timeout_ms_max=config.get(f"{prefix}.max.timeout.ms"),
        abort_interval_ms=config.get(f"{prefix}.abort.timed.out.{prefix}.cleanup.interval.ms"),
        expiry_interval_ms=config.get(f"{prefix}.remove.expired.{prefix}.cleanup.interval.ms"),
        expiration_ms=config.get("transactional.id.expiration.ms"),
        forgets_starts=config.release.forgets_starts,
        fences_by_one_epoch=config.release.fences_by_one_epoch,
    )


def _replay(partition: Partition, coordinator: TransactionCoordinator) -> None:
    stored = partition.log
    for header, chunk, pos in stored.reader.batches_from(stored.log_start_offset):
        if header.is_control:
            continue
        for record in read_records(chunk, pos):
            try:
                coordinator.replay(*decoded(record))
            except WireError as error:
                log.error("%s: record %d skipped: %s", partition, record.offset, error)
