"""Requests that wait for the controller: they are forwarded later, or given up."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from odradek.emulator.base.clock import ManualClock
from odradek.emulator.base.node import Node
from odradek.emulator.cluster import Cluster
from odradek.emulator.config.configs import BrokerConfig
from odradek.storage import MemoryDisk
from odradek.wire import Error
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.list_partition_reassignments import ListPartitionReassignmentsRequest

from tests.support.clock import NOW
from tests.support.cluster import Client

GIVES_UP_MS = 60_000


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    cluster = Cluster(
        BrokerConfig(),
        data_dir=MemoryDisk().directory(),
        brokers=[Node(node_id, "h", node_id) for node_id in (1, 2, 3)],
        clock=ManualClock(NOW),
    )
    cluster.replication.lose_quorum(is_lost=True)
    yield cluster
    cluster.close(is_last=True)


def new_topic() -> CreateTopicsRequest:
    topic = CreateTopicsRequest.Topic(
        name="t", num_partitions=1, replication_factor=1, assignments=[], configs=[]
    )
    return CreateTopicsRequest(topics=[topic], timeout_ms=500)


def test_after_a_minute_a_broker_gives_up(cluster: Cluster) -> None:
    """As three nodes of 4.3.1 answer: after 60.0 s, whatever time-out the request names."""
    creator, lister = Client(cluster, node_id=2), Client(cluster, node_id=3)
    creator.send(new_topic(), 7)
    lister.send(ListPartitionReassignmentsRequest(topics=None), 0)
    cluster.advance(GIVES_UP_MS - 1)
    assert creator.answers() == lister.answers() == []
    cluster.advance(1)
    (created,), (listed,) = creator.answers(), lister.answers()
    assert (created.topics[0].name, created.topics[0].error_code) == ("t", Error.REQUEST_TIMED_OUT)
    assert (listed.error_code, listed.topics) == (Error.REQUEST_TIMED_OUT, [])
    cluster.replication.lose_quorum(is_lost=False)
    cluster.advance(GIVES_UP_MS)
    assert cluster.topics.get("t") is None


def test_what_was_forwarded_is_not_given_up(cluster: Cluster) -> None:
    client = Client(cluster, node_id=2)
    client.send(new_topic(), 7)
    cluster.advance(1000)
    cluster.replication.lose_quorum(is_lost=False)
    cluster.settle()
    (created,) = client.answers()
    assert created.topics[0].error_code == Error.NONE
    cluster.advance(GIVES_UP_MS)
    assert client.answers() == []


def test_who_hangs_up_is_forgotten(cluster: Cluster) -> None:
    client = Client(cluster, node_id=2)
    client.send(new_topic(), 7)
    client.connection.close()
    cluster.replication.lose_quorum(is_lost=False)
    cluster.settle()
    cluster.advance(GIVES_UP_MS)
    assert cluster.topics.get("t") is None
