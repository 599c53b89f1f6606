"""The real Kafka that all tests of a process share, and the cluster of three.

A test that kills a broker, or needs configs or a directory of its own, starts its own.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from odradek.compat import RealCluster, RealKafka
from odradek.compat.clients import wait_until
from odradek.wire.api.delete_groups import DeleteGroupsRequest
from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.list_groups import ListGroupsRequest
from odradek.wire.api.metadata import MetadataRequest

from tests.support.connection import Connection

CONFIG = {
    # Records of tests are of all times, and segments as small as they can be.
    "log.retention.ms": "-1",
    "log.segment.bytes": str(1 << 20),
    "log.cleaner.backoff.ms": "100",
    "offsets.topic.num.partitions": "1",
    # Members of groups of the new protocol hear of a change by their heartbeat; 5 s is the default.
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.min.heartbeat.interval.ms": "500",
    "group.consumer.heartbeat.interval.ms": "500",
}
_TIMEOUT_S = 60.0


@pytest.fixture(scope="session")
def _node() -> Iterator[RealKafka]:
    with RealKafka(config=CONFIG) as kafka:
        yield kafka


@pytest.fixture(scope="module")
def real_kafka(_node: RealKafka) -> Iterator[RealKafka]:
    """A real Kafka of one node, without topics and groups when a file of tests begins."""
    yield _node
    sweep(_node.bootstrap_servers)


@pytest.fixture(scope="session")
def real_cluster() -> Iterator[RealCluster]:
    """Three brokers, and a controller of their own: any of them may be down, and is up again when
    a test ends."""
    from tests.emulator.replication.support.grounds import RACKS, REAL_CONFIG

    with RealCluster(3, config=REAL_CONFIG, racks=RACKS, has_own_controller=True) as kafka:
        yield kafka


def sweep(address: str) -> None:
    """Delete all topics that are not internal, and all groups without members."""
    with Connection(address) as connection:
        groups = [each.group_id for each in connection.ask(ListGroupsRequest(), 4).groups]
        connection.ask(DeleteGroupsRequest(groups_names=groups), 2)

        def is_empty() -> bool:
            topics = connection.ask(MetadataRequest(topics=None), 9).topics
            left = [each.name for each in topics if not each.is_internal]
            # Again, if a quota still holds.
            connection.ask(DeleteTopicsRequest(topic_names=left, timeout_ms=30_000), 5)
            return not left

        wait_until(is_empty, "all topics are gone", _TIMEOUT_S)
