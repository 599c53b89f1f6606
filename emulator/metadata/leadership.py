"""Leaders and replicas of partitions: elections, reassignments, and brokers that are unregistered.

A request is judged, and becomes the records that are to be written. All brokers share one log, so a
replica that is alive is in sync, and a reassignment is complete as soon as it is made.

Not emulated: replicas that lag; a reassignment that takes time. Source: KIP-460, KIP-455.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.stored.cluster import PartitionChangeRecord
from ..base.node import Node, alive
from ..partitions.partition import Partition
from .image import MetadataImage
from .topic_records import NO_LEADER, election

if TYPE_CHECKING:
    from ..cluster import Cluster

PREFERRED, UNCLEAN = 0, 1


def plan_election(
    partition: Partition, election_type: int, able: Collection[int]
) -> list[PartitionChangeRecord]:
    """Give a partition its preferred leader, or, unclean, any leader if it has none. `able`: the
    brokers that are alive.

    Raises Refused: ELECTION_NOT_NEEDED; PREFERRED_LEADER_NOT_AVAILABLE or
    ELIGIBLE_LEADERS_NOT_AVAILABLE if nobody can be elected.
    """
    preferred = partition.replicas[0]
    wanted = preferred if election_type == PREFERRED else partition.leader
    if partition.leader == wanted != NO_LEADER:
        message = "Leader election not needed for topic partition."
        raise Refused(Error.ELECTION_NOT_NEEDED, message)
    in_sync = [replica for replica in partition.replicas if replica in able]
    if election_type == PREFERRED and preferred not in in_sync:
        message = "The preferred leader was not available."
        raise Refused(Error.PREFERRED_LEADER_NOT_AVAILABLE, message)
    if not in_sync:
        message = "Eligible topic partition leaders are not available."
        raise Refused(Error.ELIGIBLE_LEADERS_NOT_AVAILABLE, message)
    return [_change(partition, leader=in_sync[0], isr=in_sync)]


def plan_move(
    partition: Partition,
    replicas: Sequence[int] | None,
    brokers: Mapping[int, Node],
    *,
    may_change: bool,
) -> list[PartitionChangeRecord]:
    """Move a partition to these brokers; None cancels a reassignment, and there never is one.

    `may_change`: there may be more or fewer of them than before. Raises Refused:
    NO_REASSIGNMENT_IN_PROGRESS, INVALID_REPLICA_ASSIGNMENT, INVALID_REPLICATION_FACTOR.
    """
    if replicas is None:
        raise Refused(Error.NO_REASSIGNMENT_IN_PROGRESS)
    what = "The manual partition assignment includes"
    if not replicas:
        raise Refused(Error.INVALID_REPLICA_ASSIGNMENT, f"{what} an empty replica list.")
    for index, replica in enumerate(sorted(replicas)):
        if replica in sorted(replicas)[:index]:
            message = f"{what} the broker {replica} more than once."
            raise Refused(Error.INVALID_REPLICA_ASSIGNMENT, message)
        if replica not in brokers:
            message = f"{what} broker {replica}, but no such broker is registered."
            raise Refused(Error.INVALID_REPLICA_ASSIGNMENT, message)
    if not may_change and len(replicas) != len(partition.replicas):
        message = (
            f"The replication factor is changed from {len(partition.replicas)} to {len(replicas)}"
        )
        raise Refused(Error.INVALID_REPLICATION_FACTOR, message)
    if list(replicas) == partition.replicas:
        return []
    able = alive(brokers)
    in_sync = [replica for replica in replicas if replica in able]
    leader = partition.leader if partition.leader in in_sync else (*in_sync, NO_LEADER)[0]
    return [_change(partition, leader=leader, isr=in_sync, replicas=list(replicas))]


def unregister(cluster: Cluster, node_id: int) -> None:
    """Unregister a broker: its partitions are led by other replicas, or by none.

    The log has no registrations, so the broker is back after a restart. Raises Refused:
    BROKER_ID_NOT_REGISTERED, KAFKA_STORAGE_ERROR.
    """
    others = alive(cluster.nodes)
    broker = others.pop(node_id, None)
    if broker is None:
        message = f"Broker ID {node_id} is not currently registered"
        raise Refused(Error.BROKER_ID_NOT_REGISTERED, message)
    cluster.metadata.append(elections(cluster.metadata.image, others))
    broker.is_alive = False
    cluster.topics.changed()


def elections(image: MetadataImage, able: Collection[int]) -> list[PartitionChangeRecord]:
    """What changes so that every partition is led by one of these brokers, where one has it."""
    return [
        change
        for topic in image.topics.values()
        for index, partition in topic.partitions.items()
        if (change := election(topic.topic_id, index, partition, able)) is not None
    ]


def _change(
    partition: Partition, *, leader: int, isr: list[int], replicas: list[int] | None = None
) -> PartitionChangeRecord:
    record = PartitionChangeRecord(
        partition_id=partition.index, topic_id=partition.topic.id, isr=isr, replicas=replicas
    )
    if leader != partition.leader:
        record.leader = leader
    return record
