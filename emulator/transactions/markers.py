"""Markers: the control batches that end a transaction in a partition (semantics H8).

A marker is checked against the partition's state of the producer, appended, and wakes committed
readers. In `__consumer_offsets` it also commits or drops the offsets of the transaction. It is
written even if no transaction is open there: a coordinator that was killed may repeat it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...wire import Error, Refused
from ...wire.batch import read_header, restamp
from ...wire.records import end_transaction_batch
from ..config.internal_topics import CONSUMER_OFFSETS
from ..groups.records import TransactionEnd

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..partitions.partition import Partition


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


def write_marker(cluster: Cluster, partition: Partition, marker: Marker) -> None:
    """End the producer's transaction in a partition. Raises Refused: NOT_ENOUGH_REPLICAS,
    INVALID_PRODUCER_EPOCH, TRANSACTION_COORDINATOR_FENCED, KAFKA_STORAGE_ERROR;
    UNKNOWN_SERVER_ERROR for numbers that no marker can have."""
    marker.check()
    partition.check_in_sync()
    now = cluster.clock.now()
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
        cluster.groups.end_transaction(partition.index, end)
