"""ElectLeaders, AlterPartitionReassignments, ListPartitionReassignments, UnregisterBroker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from odradek.emulator.base.clock import ManualClock
from odradek.emulator.base.node import Node
from odradek.emulator.cluster import Cluster
from odradek.emulator.config.configs import BrokerConfig
from odradek.wire.api.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from odradek.wire.api.elect_leaders import ElectLeadersRequest
from odradek.wire.api.list_partition_reassignments import ListPartitionReassignmentsRequest
from odradek.wire.api.produce import ProduceRequest
from odradek.wire.api.unregister_broker import UnregisterBrokerRequest

from tests.requests.produce import batch
from tests.support.clock import NOW
from tests.support.cluster import Client, client_of

Topics = list[tuple[str, list[int]]]


@pytest.fixture
def three(tmp_path: Path) -> Iterator[Cluster]:
    """Brokers 1, 2 and 3; topic `t` with one partition on 1 and 2."""
    cluster = _open(tmp_path)
    cluster.topics.create("t", assignments=[(0, [1, 2])])
    yield cluster
    cluster.close()


def _open(path: Path) -> Cluster:
    brokers = [Node(n, "h", n) for n in (1, 2, 3)]
    return Cluster(BrokerConfig(), data_dir=path, brokers=brokers, clock=ManualClock(NOW))


def elect(client: Client, topics: Topics | None, kind: int = 0, **more: int) -> list[Any]:
    asked = None
    if topics is not None:
        asked = [ElectLeadersRequest.Topic(topic=name, partitions=parts) for name, parts in topics]
    answer = client.ask(ElectLeadersRequest(election_type=kind, topic_partitions=asked, **more), 2)
    return [
        answer.error_code,
        *(
            (t.topic, [p.error_code for p in t.partition_result])
            for t in answer.replica_election_results
        ),
    ]


def move(client: Client, replicas: list[int] | None, **more: Any) -> tuple[int, str | None]:
    made = AlterPartitionReassignmentsRequest
    part = made.Topic.Partition(partition_index=0, replicas=replicas)
    answer = client.ask(made(topics=[made.Topic(name="t", partitions=[part])], **more), 1)
    (found,) = answer.responses[0].partitions
    return found.error_code, found.error_message


def placed(cluster: Cluster) -> tuple[list[int], list[int], int, int]:
    partition = cluster.partition("t", 0)
    return partition.replicas, partition.isr, partition.leader, partition.leader_epoch


@pytest.mark.parametrize("kind", [0, 1])
def test_a_partition_that_is_led_needs_no_election(three: Cluster, kind: int) -> None:
    client = client_of(three)
    assert elect(client, [("t", [0, 7]), ("none", [0])], kind) == [0, ("t", [84, 3]), ("none", [3])]
    assert elect(client, None, kind) == [0, ("t", [])]
    assert elect(client, None, 7) == [42]
    assert elect(client, [("t", [0])], 7, timeout_ms=0) == [7, ("t", [7])]


def test_a_move_is_over_when_it_begins_and_lasts(three: Cluster, tmp_path: Path) -> None:
    assert move(client_of(three), [3, 1]) == (0, None)
    assert placed(three) == ([3, 1], [3, 1], 1, 0)

    assert elect(client_of(three), [("t", [0])]) == [0, ("t", [0])]
    assert placed(three) == ([3, 1], [3, 1], 3, 1)

    made = ListPartitionReassignmentsRequest
    assert client_of(three).ask(made(topics=None), 0).topics == []
    three.close()
    again = _open(tmp_path)
    assert placed(again) == ([3, 1], [3, 1], 3, 3)
    again.close()


@pytest.mark.parametrize(
    ("replicas", "error"),
    [
        (None, (85, None)),
        ([], (39, "The manual partition assignment includes an empty replica list.")),
        ([1, 1], (39, "The manual partition assignment includes the broker 1 more than once.")),
        (
            [1, 9],
            (
                39,
                "The manual partition assignment includes broker 9, "
                "but no such broker is registered.",
            ),
        ),
        ([1, 2], (0, None)),
    ],
)
def test_moves_that_are_none(
    three: Cluster, replicas: list[int] | None, error: tuple[int, str | None]
) -> None:
    before = placed(three)
    assert move(client_of(three), replicas) == error
    assert placed(three) == before


def test_the_number_of_replicas_may_be_kept(three: Cluster) -> None:
    code, _ = move(client_of(three), [1, 2, 3], allow_replication_factor_change=False)
    assert code == 38
    assert move(client_of(three), [1, 2, 3]) == (0, None)
    assert move(client_of(three), [1], timeout_ms=0) == (7, None)


def test_who_produces_to_another_broker_is_told_where_the_leader_is(three: Cluster) -> None:
    made = ProduceRequest.Topic
    part = made.Partition(index=0, records=batch(b"x"))
    topic = made(name="t", topic_id=three.topic("t").id, partition_data=[part])
    request = ProduceRequest(acks=1, timeout_ms=1000, topic_data=[topic])
    answer = client_of(three, node_id=2).ask(request, 13)
    (found,) = answer.responses[0].partition_responses
    assert (found.error_code, found.current_leader.leader_id) == (6, 1)
    assert [(n.node_id, n.host, n.port) for n in answer.node_endpoints] == [(1, "h", 1)]


def test_a_broker_that_is_taken_out_leads_nothing(three: Cluster) -> None:
    client = client_of(three, node_id=2)
    answer = client.ask(UnregisterBrokerRequest(broker_id=1), 0)
    assert (answer.error_code, answer.error_message) == (0, "")
    assert placed(three) == ([1, 2], [2], 2, 1)
    assert elect(client, [("t", [0])]) == [0, ("t", [80])]

    answer = client.ask(UnregisterBrokerRequest(broker_id=1), 0)
    sentence = "Broker ID 1 is not currently registered"
    assert (answer.error_code, answer.error_message) == (102, sentence)
