"""Who leads a partition, and who has it: elections, moves, and brokers that are taken out.

Rules: a change is written to the metadata log, and what then stands in its image is in force. All
brokers share one log, so a replica that is alive is in sync, and a move is over when it begins.

Not emulated: replicas that lag behind; a move that takes its time. Source: KIP-460, KIP-455.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.stored.cluster import PartitionChangeRecord
from .topic_records import NO_LEADER, election

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..partitions.partition import Partition

PREFERRED, UNCLEAN = 0, 1


def elect(cluster: Cluster, partition: Partition, election_type: int) -> None:
    """Give a partition its preferred leader, or, unclean, any leader if it has none.

    Raises Refused: ELECTION_NOT_NEEDED; PREFERRED_LEADER_NOT_AVAILABLE or
    ELIGIBLE_LEADERS_NOT_AVAILABLE if nobody can be elected.
    """
    alive = alive_brokers(cluster)
    preferred = partition.replicas[0]
    wanted = preferred if election_type == PREFERRED else partition.leader
    if partition.leader == wanted != NO_LEADER:
        message = "Leader election not needed for topic partition."
        raise Refused(Error.ELECTION_NOT_NEEDED, message)
    able = [replica for replica in partition.replicas if replica in alive]
    if election_type == PREFERRED and preferred not in able:
        message = "The preferred leader was not available."
        raise Refused(Error.PREFERRED_LEADER_NOT_AVAILABLE, message)
    if not able:
        message = "Eligible topic partition leaders are not available."
        raise Refused(Error.ELIGIBLE_LEADERS_NOT_AVAILABLE, message)
    change(cluster, partition, leader=able[0], isr=able)


def reassign(
    cluster: Cluster, partition: Partition, replicas: Sequence[int] | None, may_change: bool
) -> None:
    """Move a partition to these brokers; None cancels a move, and there is never one.

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
        if replica not in cluster.brokers:
            message = f"{what} broker {replica}, but no such broker is registered."
            raise Refused(Error.INVALID_REPLICA_ASSIGNMENT, message)
    if not may_change and len(replicas) != len(partition.replicas):
        message = (
            f"The replication factor is changed from {len(partition.replicas)} to {len(replicas)}"
        )
        raise Refused(Error.INVALID_REPLICATION_FACTOR, message)
    if list(replicas) == partition.replicas:
        return
    able = [replica for replica in replicas if replica in alive_brokers(cluster)]
    leader = partition.leader if partition.leader in able else (*able, NO_LEADER)[0]
    change(cluster, partition, leader=leader, isr=able, replicas=list(replicas))


def unregister(cluster: Cluster, node_id: int) -> None:
    """Take a broker out; what it led is led by another replica, or by nobody.

    Raises Refused(BROKER_ID_NOT_REGISTERED).
    """
    broker = cluster.brokers.get(node_id)
    if broker is None or not broker.is_alive:
        message = f"Broker ID {node_id} is not currently registered"
        raise Refused(Error.BROKER_ID_NOT_REGISTERED, message)
    broker.is_alive = False
    alive = alive_brokers(cluster)
    image = cluster.topics.metadata_log.image
    changes = [
        found
        for topic in image.topics.values()
        for index, partition in topic.partitions.items()
        if (found := election(topic.topic_id, index, partition, alive)) is not None
    ]
    _write(cluster, changes)


def change(
    cluster: Cluster,
    partition: Partition,
    *,
    leader: int,
    isr: list[int],
    replicas: list[int] | None = None,
) -> None:
    """Write down who leads a partition, and let it be so. Raises Refused(KAFKA_STORAGE_ERROR)."""
    record = PartitionChangeRecord(
        partition_id=partition.index, topic_id=partition.topic.id, isr=isr, replicas=replicas
    )
    if leader != partition.leader:
        record.leader = leader
    _write(cluster, [record])


def alive_brokers(cluster: Cluster) -> list[int]:
    """The ids of the brokers that answer."""
    return [node_id for node_id, broker in cluster.brokers.items() if broker.is_alive]


def _write(cluster: Cluster, changes: Sequence[PartitionChangeRecord]) -> None:
    metadata_log = cluster.topics.metadata_log
    metadata_log.append(changes)
    for each in changes:
        topic = cluster.topics.by_id(each.topic_id)
        if topic is None:
            continue
        partition = topic.partitions[each.partition_id]
        now = metadata_log.image.topics[each.topic_id].partitions[each.partition_id]
        if now.leader not in (partition.leader, NO_LEADER):
            partition.log.start_epoch(now.leader_epoch)
        partition.leader, partition.leader_epoch = now.leader, now.leader_epoch
        partition.replicas, partition.isr = list(now.replicas), list(now.isr)
        partition.close_waiters()
    cluster.topics.changed()
