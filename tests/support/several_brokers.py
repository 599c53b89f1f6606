"""A cluster of brokers 1, 2 and 3 under a manual clock."""

from __future__ import annotations

from odradek.emulator.base.clock import ManualClock
from odradek.emulator.base.node import Node
from odradek.emulator.cluster import Cluster
from odradek.emulator.config.configs import BrokerConfig
from odradek.storage import MemoryDisk

from tests.support.clock import NOW


def open_three(disk: MemoryDisk | None = None, **configs: str) -> Cluster:
    """The cluster on a disk in memory; config names with _ for dots."""
    brokers = [Node(n, "h", n) for n in (1, 2, 3)]
    config = BrokerConfig({name.replace("_", "."): value for name, value in configs.items()})
    data_dir = (disk or MemoryDisk()).directory()
    return Cluster(config, data_dir=data_dir, brokers=brokers, clock=ManualClock(NOW))


def placed(cluster: Cluster) -> tuple[list[int], list[int], int, int]:
    """Replicas, replicas in sync, leader and leader epoch of t-0."""
    partition = cluster.partition("t", 0)
    return partition.replicas, partition.isr, partition.leader, partition.leader_epoch
