"""A cluster with one topic, and few partitions for transactions and offsets."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from odradek.emulator.cluster import Cluster
from odradek.storage import MemoryDisk

from tests.support.cluster import open_cluster


@pytest.fixture
def cluster(disk: MemoryDisk) -> Iterator[Cluster]:
    cluster = open_cluster(
        disk, transaction_state_log_num_partitions="3", offsets_topic_num_partitions="2"
    )
    cluster.create_topic("t", 3, {})
    yield cluster
    cluster.close()
