"""The coordinator and its topic: records appended to `__transaction_state`, replayed at start.

The topic is made when a coordinator is first looked for (FindCoordinator); before that every call
about a transactional id is answered NOT_COORDINATOR, as on a real broker. The coordinator's epoch,
which markers carry, is the leader epoch of the partition that keeps the id.

Where logs are flushed by number (flush.messages), a record is on the disk before anything follows
from it, and what it tells of is before it: else a power cut could leave half a transaction, or one
that is open for ever.

Left out: the pause in which a real broker loads a partition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from ...wire import Error, Refused, WireError
from ...wire.batch import read_header
from ...wire.records import NewRecord, Record, build_batch, read_records
from ..base.coordinator_errors import as_coordinator
from ..base.java_order import partition_for
from ..base.logger import log
from ..config.internal_topics import TRANSACTION_STATE
from .coordinator import TransactionCoordinator, TransactionSettings
from .encoding import decoded, encoded_key, encoded_value
from .markers import Marker, write_marker
from .transaction import Key, Transaction

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..config.configs import BrokerConfig
    from ..partitions.partition import Partition


class Transactions:
    """The transactions of a cluster, on their own topic."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._coordinator = TransactionCoordinator(self, settings_of(cluster.config))
        self._is_open = False
        topic = cluster.topics.get(TRANSACTION_STATE)
        if topic is not None:
            self._load(topic.partitions)

    def coordinator_for(self, transactional_id: str) -> TransactionCoordinator:
        """The coordinator of an id; any will do to refuse an empty one.

        Raises Refused(NOT_COORDINATOR) as long as nobody has looked for a coordinator.
        """
        if not self._is_open and transactional_id:
            raise Refused(Error.NOT_COORDINATOR)
        return self._coordinator

    def all(self) -> list[Transaction]:
        """Every transactional id that is known."""
        return list(self._coordinator.transactions.values())

    def ensure_topic(self) -> None:
        """Create `__transaction_state` if there is none yet."""
        if not self._is_open:
            self._load(self._cluster.topics.ensure_internal(TRANSACTION_STATE).partitions)

    def partition_of(self, transactional_id: str) -> Partition:
        """The partition that keeps an id. Raises Refused(UNKNOWN_TOPIC_OR_PARTITION)."""
        partitions = self._cluster.topic(TRANSACTION_STATE).partitions
        return partitions[partition_for(transactional_id, len(partitions))]

    def topic_deleted(self, topic: str) -> None:
        """Without its own topic the coordinator knows nothing; it is not there until the next."""
        if topic == TRANSACTION_STATE:
            self._coordinator.forget_all()
            self._is_open = False

    def _load(self, partitions: Sequence[Partition]) -> None:
        self._is_open = True
        for partition in partitions:
            for record in _records(partition):
                try:
                    self._coordinator.replay(*decoded(record))
                except WireError as error:
                    log.error("%s: record %d passed over: %s", partition, record.offset, error)
        self._coordinator.recover()

    # What the coordinator asks for

    def now(self) -> int:
        return self._cluster.clock.now()

    def level(self) -> int:
        return self._cluster.features.level("transaction.version")

    def new_producer_id(self) -> int:
        return self._cluster.next_producer_id()

    def soon(self, callback: Callable[[], None]) -> None:
        self._cluster.woken.append(callback)

    def at(self, when: int, callback: Callable[[], None]) -> None:
        self._cluster.timers.at(when, callback)

    def write(self, transactional_id: str, transaction: Transaction | None) -> None:
        """Append a record. Raises Refused with the code that a coordinator answers."""
        now = self.now() if transaction is None else transaction.last_update_ms
        value = None if transaction is None else encoded_value(transaction, self.level())
        batch = build_batch([NewRecord(now, encoded_key(transactional_id), value)])
        try:
            partition = self.partition_of(transactional_id)
            if len(batch) > partition.topic.config.max_message_bytes:
                raise Refused(Error.MESSAGE_TOO_LARGE)
            flusher = self._cluster.log_manager.flusher
            flusher.drain()  # the markers, before it is written that they are
            partition.append(batch, read_header(batch), self.now())
            flusher.drain()
        except Refused as refused:
            raise as_coordinator(refused) from refused

    def write_marker(self, transaction: Transaction, key: Key) -> None:
        """End a prepared transaction in a partition, if that is still there. Raises Refused."""
        name, index = key
        topic = self._cluster.topics.get(name)
        if topic is None or not 0 <= index < len(topic.partitions):
            return
        marker = Marker(
            transaction.producer_id,
            transaction.epoch,
            transaction.state.commits,
            self.partition_of(transaction.transactional_id).leader_epoch,
            transaction.client_version,
        )
        write_marker(self._cluster, topic.partitions[index], marker)


def settings_of(config: BrokerConfig) -> TransactionSettings:
    """What the broker's configs say of transactions."""
    prefix = "transaction"
    return TransactionSettings(
        timeout_ms_max=config.get(f"{prefix}.max.timeout.ms"),
        abort_interval_ms=config.get(f"{prefix}.abort.timed.out.{prefix}.cleanup.interval.ms"),
        expiry_interval_ms=config.get(f"{prefix}.remove.expired.{prefix}.cleanup.interval.ms"),
        expiration_ms=config.get("transactional.id.expiration.ms"),
    )


def _records(partition: Partition) -> Iterator[Record]:
    """Every record of a partition, in order."""
    stored = partition.log
    for header, chunk, pos in stored.reader.batches_from(stored.log_start_offset):
        if not header.is_control:
            yield from read_records(chunk, pos)
