"""A cluster that takes the time of a real node, under a manual clock."""

from __future__ import annotations

from pathlib import Path

import pytest
from odradek.emulator.cluster import Cluster

from tests.support.cluster import open_cluster
from tests.support.patient import Patient


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    """A new cluster with `timing="kafka"`."""
    return open_cluster(tmp_path, timing="kafka")


@pytest.fixture
def client(cluster: Cluster) -> Patient:
    return Patient(cluster)
