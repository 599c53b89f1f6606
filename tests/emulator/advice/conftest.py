"""A cluster, and a client "app" that knows the coordinator of group g."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire.api.find_coordinator import FindCoordinatorRequest

from tests.support.cluster import Client, client_of, open_cluster


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    cluster = open_cluster(group_initial_rebalance_delay_ms="0")
    cluster.create_topic("t", 4, {})
    cluster.create_topic("out", 1, {})
    yield cluster
    cluster.close()


@pytest.fixture
def app(cluster: Cluster) -> Client:
    client = client_of(cluster, "app")
    client.ask(FindCoordinatorRequest(coordinator_keys=["g"], key_type=0), 4)
    return client
