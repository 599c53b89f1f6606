"""Leaders move back to the preferred replicas, as the controller moves them from time to time.

Every `leader.imbalance.check.interval.seconds` of the cluster's clock, counted from its start, each
partition that another replica leads is given back to the first of its replicas, if that is in sync
and at work: the change of an election that somebody asks for. `auto.leader.rebalance.enable=false`
leaves leaders where they are.

The interval is Kafka's, 300 s, with any `timing`: a leader that a test has moved stays long enough.
Left out: of more than 1000 such partitions a real controller moves 1000 at once. Source: Kafka's
broker configs; ReplicationControlManager of 4.3.1, tried on three nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from ..metadata.image import PartitionImage
from ..partitions.partition import NO_LEADER

if TYPE_CHECKING:
    from ..base.timers import Timer
    from ..cluster import Cluster


class Balance:
    """Looks at the right times for leaders that are not the preferred ones, while there are any."""

    def __init__(self, cluster: Cluster, move_back: Callable[[], None]) -> None:
        self._cluster = cluster
        self._move_back = move_back
        self._start = cluster.clock.now()
        self._check: Timer | None = None

    def noticed(self, partitions: Iterable[PartitionImage]) -> None:
        """These have changed: if one of them is led by another replica, look at the next time."""
        if self._check is None and any(map(is_imbalanced, partitions)):
            config = self._cluster.config
            if config.get("auto.leader.rebalance.enable"):
                every = 1000 * config.get("leader.imbalance.check.interval.seconds")
                past = (self._cluster.clock.now() - self._start) % every
                when = self._cluster.clock.now() + every - past
                self._check = self._cluster.timers.at(when, self._look)

    def _look(self) -> None:
        self._check = None
        self._move_back()
        for topic in self._cluster.metadata.image.topics.values():
            self.noticed(topic.partitions.values())


def is_imbalanced(partition: PartitionImage) -> bool:
    """Whether another one than the first replica leads."""
    return partition.leader not in (NO_LEADER, partition.replicas[0])
