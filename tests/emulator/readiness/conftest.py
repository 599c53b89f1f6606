"""A cluster that takes the time of a real node, under a manual clock."""

from __future__ import annotations

import pytest
from odradek.emulator.cluster import Cluster

from tests.support.cluster import open_cluster
from tests.support.patient import Patient


@pytest.fixture
def cluster() -> Cluster:
    """A new cluster with `timing="kafka"`."""
    return open_cluster(timing="kafka")


@pytest.fixture
def client(cluster: Cluster) -> Patient:
    return Patient(cluster)
