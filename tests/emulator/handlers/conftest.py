"""Three brokers, for what takes more than one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from odradek.emulator.cluster import Cluster

from tests.support.several_brokers import open_three


@pytest.fixture
def three(tmp_path: Path) -> Iterator[Cluster]:
    """Brokers 1, 2 and 3; topic `t` with one partition on 1 and 2."""
    cluster = open_three(tmp_path / "three")
    cluster.topics.create("t", assignments=[(0, [1, 2])])
    yield cluster
    cluster.close()
