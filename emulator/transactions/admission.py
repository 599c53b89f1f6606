"""The transactions as partitions know them: whether batches and offsets may be part of one, for
which they ask the coordinator, and the markers that end it.

Rules (semantics B17, H4, H7), for each partition with transactional data:
- If the producer's transaction is open there in this epoch, the coordinator is not asked; nor if
  the partition knows a later epoch of the producer: then it is fenced (47).
- Clients of the second generation (Produce v12, TxnOffsetCommit v5) need not have added the
  partition: it is added now. For others it is verified, unless
  `transaction.partition.verification.enable` is false.
- The coordinator's error becomes one that a producer knows: 90 becomes 47; a partition that was not
  added is 120, before Produce v11 and TxnOffsetCommit v4 48.
- The partition remembers the verification and its sequence: if the transaction's first batch has a
  later sequence, it is out of order (storage/producers.py).

A marker (semantics H8) is checked against the partition's state of the producer, appended, and
wakes committed readers. In `__consumer_offsets` it also commits or drops the offsets of the
transaction. It is written even if no transaction is open there: a coordinator that was killed may
repeat it.

Source: KIP-890; run against Kafka 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ...wire import Error, Refused
from ...wire.batch import read_header, restamp
from ...wire.records import end_transaction_batch
from ..config.internal_topics import CONSUMER_OFFSETS
from ..groups.records import TransactionEnd
from .transaction import Key, Producer

if TYPE_CHECKING:
    from ..config.configs import BrokerConfig
    from ..groups.coordinators import Groups
    from ..partitions.partition import Partition

NO_SEQUENCE = -1


class Generation(NamedTuple):
    """The rights of a client's version, and the errors that it knows."""

    adds: bool
    knows_abortable: bool


def of_produce(version: int) -> Generation:
    """The generation of a Produce version."""
    return Generation(adds=version >= 12, knows_abortable=version >= 11)


def of_offsets(version: int) -> Generation:
    """The generation of a TxnOffsetCommit version."""
    return Generation(adds=version >= 5, knows_abortable=version >= 4)


class Candidate(NamedTuple):
    """A partition that would get data of a transaction, and the first sequence of the data."""

    partition: Partition
    sequence: int = NO_SEQUENCE

    @property
    def key(self) -> Key:
        return self.partition.topic.name, self.partition.index


Ask: TypeAlias = Callable[[str, Producer, list[Key], Generation], list[Error]]
"""The error of the coordinator of a transactional id for each of these partitions."""


def refusals(
    ask: Ask,
    config: BrokerConfig,
    transactional_id: str,
    producer: Producer,
    candidates: Iterable[Candidate],
    generation: Generation,
) -> dict[Key, Refused]:
    """Which of these partitions, at a broker with these configs, may not accept the producer's
    data, and why. Does not raise."""
    if not generation.adds and not config.get("transaction.partition.verification.enable"):
        return {}
    refused: dict[Key, Refused] = {}
    keys: list[Key] = []
    release = config.release
    begins_at_0 = generation.adds and release.begins_transactions_at_0
    for candidate in candidates:
        producers = candidate.partition.log.producers
        if release.fences_before_verifying and producers.knows_later_epoch(*producer):
            refused[candidate.key] = Refused(Error.INVALID_PRODUCER_EPOCH)
        elif not producers.has_open_transaction(*producer):
            producers.note_verification(*producer, candidate.sequence, transaction_v2=begins_at_0)
            keys.append(candidate.key)
    for key, error in zip(keys, ask(transactional_id, producer, keys, generation), strict=True):
        if error:
            refused[key] = Refused(_understood(error, generation))
    return refused


def _understood(error: Error, generation: Generation) -> Error:
    if error is Error.PRODUCER_FENCED:
        return Error.INVALID_PRODUCER_EPOCH
    if error is Error.TRANSACTION_ABORTABLE and not generation.knows_abortable:
        return Error.INVALID_TXN_STATE
    return error


NONE = -1


class Marker(NamedTuple):
    """The end of a producer's transaction, as its coordinator sends it."""

    producer_id: int
    epoch: int
    commit: bool
    coordinator_epoch: int
    transaction_version: int

    @property
    def lacks_producer(self) -> bool:
        """Whether its producer id or epoch is -1; no batch can have that."""
        return NONE in (self.producer_id, self.epoch)

    def check(self) -> None:
        """Raises Refused(UNKNOWN_SERVER_ERROR) if it has no producer."""
        if self.lacks_producer:
            raise Refused(Error.UNKNOWN_SERVER_ERROR)


def write_marker(partition: Partition, marker: Marker, now: int, groups: Groups) -> None:
    """End the producer's transaction in a partition, and with one of `__consumer_offsets` what
    groups have pending there. Raises Refused: NOT_ENOUGH_REPLICAS,
    INVALID_PRODUCER_EPOCH, TRANSACTION_COORDINATOR_FENCED, KAFKA_STORAGE_ERROR;
    UNKNOWN_SERVER_ERROR for numbers that no marker can have."""
    marker.check()
    partition.check_in_sync()
    batch = end_transaction_batch(
        marker.commit,
        base_offset=0,
        timestamp=now,
        producer_id=marker.producer_id,
        producer_epoch=marker.epoch,
        coordinator_epoch=marker.coordinator_epoch,
        leader_epoch=partition.leader_epoch,
    )
    if partition.topic.config.log_append_time:
        restamp(batch, 0, now, True)
    header = read_header(batch)
    partition.roll_if_due(header, now)
    if marker.transaction_version == NONE:
        raise Refused(Error.UNKNOWN_SERVER_ERROR)
    partition.log.producers.check_marker(
        marker.producer_id,
        marker.epoch,
        marker.coordinator_epoch,
        transaction_version=marker.transaction_version,
    )
    partition.append(batch, header, now)
    if partition.topic.name == CONSUMER_OFFSETS:
        end = TransactionEnd(marker.producer_id, marker.commit)
        groups.end_transaction(partition.index, end)
