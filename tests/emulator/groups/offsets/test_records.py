"""The bytes of committed offsets in `__consumer_offsets`."""

from __future__ import annotations

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire.records import read_records

from tests.requests.committed_offsets import commit
from tests.support.clock import NOW
from tests.support.cluster import Client


@pytest.fixture(autouse=True)
def topic(cluster: Cluster) -> None:
    cluster.create_topic("t", 2, {})
    cluster.groups.ensure_topic()


def test_the_bytes_in_the_offsets_topic_are_kafkas(cluster: Cluster, client: Client) -> None:
    commit(client, 3, partition=1, metadata="here", version=9)
    partition = cluster.groups.partition_for("g")
    (record,) = read_records(
        cluster.partition("__consumer_offsets", partition).log.read(0, 1 << 20)
    )
    assert record.key == bytes.fromhex("0001 0001 67 0001 74 00000001")
    value = bytes.fromhex("0004 0000000000000003 ffffffff 05") + b"here"
    value += NOW.to_bytes(8, "big") + b"\1\0\x10" + cluster.topic("t").id
    assert record.value == value
