"""A cluster of brokers 1, 2 and 3 under a manual clock."""

from __future__ import annotations

from pathlib import Path

from odradek.emulator.base.clock import ManualClock
from odradek.emulator.base.node import Node
from odradek.emulator.cluster import Cluster
from odradek.emulator.config.configs import BrokerConfig

from tests.support.clock import NOW


def open_three(path: Path) -> Cluster:
    """The cluster on this directory."""
    brokers = [Node(n, "h", n) for n in (1, 2, 3)]
    return Cluster(BrokerConfig(), data_dir=path, brokers=brokers, clock=ManualClock(NOW))


def placed(cluster: Cluster) -> tuple[list[int], list[int], int, int]:
    """Replicas, replicas in sync, leader and leader epoch of t-0."""
    partition = cluster.partition("t", 0)
    return partition.replicas, partition.isr, partition.leader, partition.leader_epoch
