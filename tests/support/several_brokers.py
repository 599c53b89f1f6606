"""A cluster of brokers 1, 2 and 3 under a manual clock."""

from __future__ import annotations

from pathlib import Path

from odradek.emulator.base.clock import ManualClock
from odradek.emulator.base.node import Node
from odradek.emulator.cluster import Cluster
from odradek.emulator.config.configs import BrokerConfig

from tests.support.clock import NOW


def open_three(path: Path, **configs: str) -> Cluster:
    """The cluster on this directory; config names with _ for dots."""
    brokers = [Node(n, "h", n) for n in (1, 2, 3)]
    config = BrokerConfig({name.replace("_", "."): value for name, value in configs.items()})
    return Cluster(config, data_dir=path, brokers=brokers, clock=ManualClock(NOW))


def placed(cluster: Cluster) -> tuple[list[int], list[int], int, int]:
    """Replicas, replicas in sync, leader and leader epoch of t-0."""
    partition = cluster.partition("t", 0)
    return partition.replicas, partition.isr, partition.leader, partition.leader_epoch
