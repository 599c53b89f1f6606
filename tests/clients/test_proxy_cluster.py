"""A proxy in front of three real nodes: each has a port there, and clients see no other."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from odradek import Proxy
from odradek.compat import Client, NewRecord, RealCluster, RealKafka
from odradek.wire.api.describe_cluster import DescribeClusterRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.metadata import MetadataRequest

from tests.support.connection import Connection

NUMBERS = (1, 2, 3)
pytestmark = [pytest.mark.real, pytest.mark.client]


@pytest.fixture(scope="module")
def nodes(real_cluster: RealCluster) -> list[RealKafka]:
    return list(real_cluster.nodes.values())


@pytest.fixture(scope="module")
def proxy(nodes: list[RealKafka]) -> Iterator[Proxy]:
    with Proxy(",".join(node.bootstrap_servers for node in nodes), journal=True) as proxy:
        yield proxy


def ports(proxy: Proxy) -> dict[int, int]:
    """The brokers, and their ports, as clients of the proxy are told."""
    with Connection(proxy.bootstrap_servers) as client:
        answer = client.ask(MetadataRequest(topics=None), 12)
    return {each.node_id: each.port for each in answer.brokers}


def test_every_broker_has_a_port_of_the_proxy(nodes: list[RealKafka], proxy: Proxy) -> None:
    given = ports(proxy)
    assert sorted(given) == list(NUMBERS)
    theirs = {int(node.bootstrap_servers.rsplit(":", 1)[1]) for node in nodes}
    assert len(set(given.values()) | theirs) == 6
    for node_id, port in given.items():
        with Connection(f"127.0.0.1:{port}") as client:
            asked = DescribeClusterRequest(include_cluster_authorized_operations=False)
            answer = client.ask(asked, 0)
            assert {each.broker_id: each.port for each in answer.brokers} == given
            assert proxy.journal.of("DescribeCluster")[-1].connection.node_id == node_id
            found = client.ask(FindCoordinatorRequest(coordinator_keys=["g"], key_type=0), 4)
            assert found.coordinators[0].port in {0, -1, *given.values()}


def test_a_client_talks_to_all_of_them_through_the_proxy(client: Client, proxy: Proxy) -> None:
    topic = f"orders-{client.name}"
    client.create_topic(proxy.bootstrap_servers, topic, partitions=3)
    proxy.journal.clear()
    for partition in range(3):
        client.produce(
            *(proxy.bootstrap_servers, topic, [NewRecord(b"%d" % partition)]), partition=partition
        )
    found = client.consume(proxy.bootstrap_servers, topic, group=topic, count=3)
    assert sorted(record.value or b"" for record in found) == [b"%d" % each for each in range(3)]
    for api in ("Produce", "Fetch"):
        assert {each.connection.node_id for each in proxy.journal.of(api)} == set(NUMBERS)


def test_one_broker_cannot_be_reached_and_the_others_can(client: Client, proxy: Proxy) -> None:
    topic = f"partly-{client.name}"
    client.create_topic(proxy.bootstrap_servers, topic, partitions=3)
    asked = MetadataRequest(topics=[MetadataRequest.Topic(name=topic)])
    with Connection(proxy.bootstrap_servers) as connection:
        (described,) = connection.ask(asked, 12).topics
    led = {each.leader_id: each.partition_index for each in described.partitions}
    assert sorted(led) == list(NUMBERS)
    begins = next(each.connection.node_id for each in proxy.journal.of("Metadata"))
    out, fine, _ = sorted(NUMBERS, key=lambda number: number == begins)
    with proxy.network.down(broker=out):
        for value, node_id in ((b"fine", fine), (b"late", out)):
            if value == b"late":
                threading.Timer(1, proxy.heal).start()
            client.produce(
                *(proxy.bootstrap_servers, topic, [NewRecord(value)]), partition=led[node_id]
            )
    found = client.consume(proxy.bootstrap_servers, topic, count=2)
    assert {record.value: record.partition for record in found} == {
        b"fine": led[fine],
        b"late": led[out],
    }
