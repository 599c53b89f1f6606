"""A cluster with an authorizer, and clients that have logged in."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from odradek.emulator.cluster import Cluster

from tests.security.clients import client_as, open_secured
from tests.support.cluster import Client


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    cluster = open_secured()
    yield cluster
    cluster.close()


@pytest.fixture
def user(cluster: Cluster) -> Callable[[str], Client]:
    return lambda name: client_as(cluster, name)
