"""Verbs of a test on single replicas: one lags, or is kept from being in sync.

- A replica that lags stays so many records behind the log end, or gets nothing more. It never goes
  back: it falls behind as records come. While it is in sync it holds the high watermark back; after
  `replica.lag.time.max.ms` its leader takes it out, and it is in sync again once it has caught up.
- One that is kept out of the ISR follows as before.
- Both last, whatever its broker does meanwhile, until they are taken back, the replica leads, or it
  is none any more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..base.words import number_of
from ..partitions.partition import NO_LEADER

if TYPE_CHECKING:
    from ..partitions.partition import Partition
    from .replication import Replication


def lag(replication: Replication, partition: Partition, node_id: int, records: int | None) -> None:
    """Let a follower stay so many records behind the log end; None: get nothing. Raises ValueError
    for who is no follower, RuntimeError for a broker that does not run."""
    _check_follower(partition, node_id)
    replication.running(node_id)
    partition.lag(node_id, records, replication.environment.clock.now())
    by = "it gets nothing more" if records is None else f"by {number_of(records, 'record')}"
    _tell(replication, "replica lags", partition, node_id, by)
    replication.watch_lags()


def catch_up(replication: Replication, partition: Partition, node_id: int) -> None:
    """Let a replica get everything again, at once if its broker is at work; harmless if it does.
    Raises ValueError for a broker without a replica."""
    check_replica(partition, node_id)
    if partition.apart is None or node_id not in partition.apart.lags:
        return
    del partition.apart.lags[node_id]
    _tell(replication, "replica caught up", partition, node_id)
    if replication.brokers[node_id].is_at_work:
        partition.follow(node_id)
    replication.settle()


def catch_up_everywhere(replication: Replication, node_id: int) -> None:
    """The same with all replicas of a broker. Raises ValueError for one that is not there."""
    replication.broker(node_id)
    for topic in replication.topics:
        for partition in topic.partitions:
            if node_id in partition.replicas:
                catch_up(replication, partition, node_id)


def shrink_isr(replication: Replication, partition: Partition, node_id: int) -> None:
    """Keep a follower from being in sync, until `grow_isr`. Raises ValueError for who is no
    follower, RuntimeError if nobody leads, Refused."""
    _check_follower(partition, node_id)
    partition.set_apart().kept_out.add(node_id)
    _tell(replication, "replica kept out", partition, node_id)
    if node_id in partition.isr:
        left = [each for each in partition.isr if each != node_id]
        replication.set_isr(partition, left)


def grow_isr(replication: Replication, partition: Partition, node_id: int) -> None:
    """Have a follower in sync again: it catches up, and joins. Raises as `shrink_isr`, and
    RuntimeError for a broker that does not run."""
    _check_follower(partition, node_id)
    replication.running(node_id)
    if partition.apart is not None:
        if node_id in partition.apart.kept_out:
            partition.apart.kept_out.remove(node_id)
            _tell(replication, "replica let in", partition, node_id)
        catch_up(replication, partition, node_id)
        replication.settle()


def _tell(
    replication: Replication, kind: str, partition: Partition, node_id: int, reason: str = ""
) -> None:
    name, index = partition.topic.name, partition.index
    details = {"node": node_id}
    replication.environment.journal.add(
        kind, topic=name, partition=index, reason=reason, details=details
    )


def check_replica(partition: Partition, node_id: int) -> None:
    """Raises ValueError for a broker without a replica."""
    if node_id not in partition.replicas:
        there = ", ".join(map(str, partition.replicas))
        text = f"broker {node_id} has no replica of {partition.name}, which is on {there}"
        raise ValueError(text)


def _check_follower(partition: Partition, node_id: int) -> None:
    check_replica(partition, node_id)
    if partition.leader == node_id:
        raise ValueError(f"broker {node_id} leads {partition.name}: only a follower can do that")
    if partition.leader == NO_LEADER:
        raise RuntimeError(f"nobody leads {partition.name}: there is nobody to follow")
