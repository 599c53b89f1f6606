"""DescribeProducers (semantics H11, I17)."""

from __future__ import annotations

from odradek.emulator.cluster import Cluster
from odradek.wire.api.describe_producers import DescribeProducersRequest, DescribeProducersResponse
from odradek.wire.batch import read_header

from tests.requests.produce import batch
from tests.support.clock import NOW
from tests.support.cluster import Client

Partition = DescribeProducersResponse.Topic.Partition


def describe(client: Client, name: str, index: int = 0) -> Partition:
    made = DescribeProducersRequest
    answer = client.ask(made(topics=[made.Topic(name=name, partition_indexes=[index])]), 0)
    ((found,),) = [topic.partitions for topic in answer.topics]
    partition: Partition = found
    return partition


def test_a_producer_is_known_from_its_first_batch_on(cluster: Cluster, client: Client) -> None:
    cluster.create_topic("t", 1, {})
    assert describe(client, "t").active_producers == []
    data = batch(b"x", b"y", producer_id=7, producer_epoch=3, base_sequence=4, transactional=True)
    cluster.partition("t", 0).append(data, read_header(data), NOW)

    (found,) = describe(client, "t").active_producers
    assert (found.producer_id, found.producer_epoch, found.last_sequence) == (7, 3, 5)
    assert (found.last_timestamp, found.coordinator_epoch) == (NOW, -1)
    assert found.current_txn_start_offset == 0


def test_what_does_not_exist(cluster: Cluster, client: Client) -> None:
    cluster.create_topic("t", 1, {})
    not_hosted = "This server does not host this topic-partition."
    empty = "Topic name is invalid: the empty string is not allowed"
    for name, index, expected in (
        ("t", 9, (3, None)),
        ("none", 0, (3, not_hosted)),
        ("", 0, (17, empty)),
    ):
        found = describe(client, name, index)
        assert (found.error_code, found.error_message) == expected
