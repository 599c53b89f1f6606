"""Before a test's own produce: whether who leads the partitions runs, as a client finds out.

The leader may have died a moment ago, and lead until its session ends: that is worth waiting for.
Where nobody leads, and where no controller could let another one lead, it is not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from ...emulator.partitions.partition import NO_LEADER
from ...emulator.replication.brokers import Process
from ...wire import Error, Refused
from .routes import Place

if TYPE_CHECKING:
    from ...emulator.cluster import Cluster
    from ...emulator.partitions.partition import Partition


def are_led(cluster: Cluster, places: Collection[Place]) -> bool | None:
    """Whether somebody who runs leads each of these partitions, None if not yet. Raises
    Refused(NOT_LEADER_OR_FOLLOWER) where nobody is going to."""
    for partition in _unled(cluster, places):
        if partition.leader == NO_LEADER:
            brokers = cluster.replication.brokers
            there = [each for each in partition.replicas if each in brokers]
            held = "; ".join(f"broker {each} is {brokers[each]}" for each in there)
            raise _refused(f"nobody leads {partition.name} ({held or 'its brokers are gone'})")
        if not cluster.replication.quorum.is_there:
            raise _refused(
                f"{_leader_of(cluster, partition)}, and no controller lets another one lead"
            )
        return None
    return True


def unled(cluster: Cluster, places: Collection[Place]) -> str:
    """Who leads those of these partitions whose leader does not run, in words."""
    found = [_leader_of(cluster, each) for each in _unled(cluster, places)]
    text = "; ".join(f"{each} until its session ends" for each in found) or "All have leaders"
    standing = " (the clock stands still before kafka.advance())"
    return text + standing * cluster.has_manual_clock + "."


def refused_now(cluster: Cluster, places: Collection[Place]) -> Refused:
    return _refused(unled(cluster, places))


def _unled(cluster: Cluster, places: Collection[Place]) -> Iterator[Partition]:
    brokers = cluster.replication.brokers
    for place in places:
        try:
            partition = cluster.partition(*place)
        except Refused:  # for the answer to tell
            continue
        leader = brokers.get(partition.leader)
        if leader is None or leader.process is not Process.UP:
            yield partition


def _leader_of(cluster: Cluster, partition: Partition) -> str:
    leader, brokers = partition.leader, cluster.replication.brokers
    does = f"is {brokers[leader]}" if leader in brokers else "is not there"
    return f"broker {leader} leads {partition.name} and {does}"


def _refused(text: str) -> Refused:
    return Refused(Error.NOT_LEADER_OR_FOLLOWER, text)
