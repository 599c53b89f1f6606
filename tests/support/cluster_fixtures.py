"""A cluster under a manual clock, on a disk of its own; a client, and producers, on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from odradek.emulator.cluster import Cluster
from odradek.storage import MemoryDisk

from tests.support.cluster import Client, client_of, open_cluster
from tests.support.transactional_producer import TxnClient


@pytest.fixture
def disk() -> MemoryDisk:
    return MemoryDisk()


@pytest.fixture
def cluster(disk: MemoryDisk) -> Iterator[Cluster]:
    cluster = open_cluster(disk)
    yield cluster
    cluster.close(is_last=True)  # a clean stop takes a quarter of a short test


@pytest.fixture
def on_files(tmp_path: Path) -> Iterator[Cluster]:
    """A cluster in a directory of the system: tmp_path / "data"."""
    cluster = open_cluster(tmp_path / "data")
    yield cluster
    cluster.close()


@pytest.fixture
def client(cluster: Cluster) -> Client:
    return client_of(cluster)


@pytest.fixture
def producer(cluster: Cluster) -> Callable[..., TxnClient]:
    """Make a producer that has begun."""

    def make(name: str = "x", generation: int = 2, timeout_ms: int = 60_000) -> TxnClient:
        return TxnClient(cluster, name, generation).begin(timeout_ms=timeout_ms)

    return make
