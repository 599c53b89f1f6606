"""Three brokers, for what takes more than one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from odradek.emulator.cluster import Cluster
from odradek.storage import MemoryDisk

from tests.support.several_brokers import open_three


@pytest.fixture
def disk_of_three() -> MemoryDisk:
    return MemoryDisk()


@pytest.fixture
def three(disk_of_three: MemoryDisk) -> Iterator[Cluster]:
    """Brokers 1, 2 and 3; topic `t` with one partition on 1 and 2."""
    cluster = open_three(disk_of_three)
    cluster.topics.create("t", assignments=[(0, [1, 2])])
    yield cluster
    cluster.close()
