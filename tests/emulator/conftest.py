"""A cluster under a manual clock, in a directory of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from odradek.emulator.cluster import Cluster

from tests.support.cluster import Client, client_of, open_cluster


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    cluster = open_cluster(tmp_path / "data")
    yield cluster
    cluster.close()


@pytest.fixture
def client(cluster: Cluster) -> Client:
    return client_of(cluster)
