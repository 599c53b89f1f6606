"""The replica that a leader sends a consumer to: one in the consumer's rack (KIP-392).

Only where `replica.selector.class` names a selector that knows racks; without one, or with Kafka's
LeaderSelector, consumers stay with the leader. Rules (Kafka's RackAwareReplicaSelector):
- Candidates are the leader and the followers that have the offset, in sync or not, on brokers that
  are not fenced; not those of which the leader has not heard since it leads.
- Of those in the client's rack the leader comes first, then the one with the largest log end, then
  the one that had everything last, then the largest id. If there is none, the leader it is.

Source: Kafka 4.3.1's answers (semantics O21).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...wire.api.fetch import FetchRequest
from ..base.call import Call
from ..config.broker_rules import RACK_AWARE_SELECTOR

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..partitions.partition import Partition

NO_REPLICA = -1
_RACKS_SINCE = 11


def closest(
    cluster: Cluster, call: Call, request: FetchRequest
) -> Callable[[Partition, int], int] | None:
    """Which replica a client of this rack is sent to, by partition and offset: its broker's id, or
    NO_REPLICA for the leader. None where nobody is sent anywhere."""
    node_id, rack = call.node_id, request.rack_id
    chosen = cluster.brokers[node_id].config.get("replica.selector.class")
    if chosen != RACK_AWARE_SELECTOR or call.version < _RACKS_SINCE or len(cluster.nodes) == 1:
        return None
    near = {each.node_id for each in cluster.nodes.values() if each.is_alive and each.rack == rack}

    def choose(partition: Partition, offset: int) -> int:
        if partition.leader != node_id or node_id in near or offset < partition.log_start_offset:
            return NO_REPLICA
        apart = partition.apart
        since = {} if apart is None else apart.behind_since
        there = near.intersection(partition.replicas)
        known = there if apart is None else there - apart.unheard
        ends = {each: partition.end_at(each) for each in known}
        able = [(end, since.get(each, cluster.clock.now()), each) for each, end in ends.items()]
        return max((each for each in able if each[0] >= offset), default=(0, 0, NO_REPLICA))[2]

    return choose
