"""Several brokers: who coordinates a group or a transactional id, and what moves with its leader.

The answers are those of three nodes of Kafka 4.3.1, but that these load what they have to
coordinate at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.config.internal_topics import CONSUMER_OFFSETS, TRANSACTION_STATE
from odradek.emulator.transactions.transaction import State
from odradek.storage import MemoryDisk
from odradek.wire import Error, Request
from odradek.wire.api.add_offsets_to_txn import AddOffsetsToTxnRequest
from odradek.wire.api.add_partitions_to_txn import AddPartitionsToTxnRequest
from odradek.wire.api.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from odradek.wire.api.consumer_group_describe import ConsumerGroupDescribeRequest
from odradek.wire.api.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.delete_groups import DeleteGroupsRequest
from odradek.wire.api.describe_groups import DescribeGroupsRequest
from odradek.wire.api.describe_transactions import DescribeTransactionsRequest
from odradek.wire.api.end_txn import EndTxnRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.init_producer_id import InitProducerIdRequest
from odradek.wire.api.join_group import JoinGroupResponse
from odradek.wire.api.list_groups import ListGroupsRequest
from odradek.wire.api.list_transactions import ListTransactionsRequest
from odradek.wire.api.offset_delete import OffsetDeleteRequest
from odradek.wire.api.txn_offset_commit import TxnOffsetCommitRequest
from odradek.wire.api.unregister_broker import UnregisterBrokerRequest

from tests.requests.committed_offsets import commit, commit_request, committed, offset_fetch_request
from tests.requests.groups import (
    heartbeat_request,
    join_request,
    joined,
    leave_request,
    sync_request,
)
from tests.requests.produce import batch, produce
from tests.support.cluster import Client, client_of, open_cluster
from tests.support.consumer import read
from tests.support.transactional_producer import TxnClient

NODES = (1, 2, 3)
GROUP, TRANSACTION = 0, 1
CONFIGS = {
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "3",
}


@pytest.fixture
def three() -> Iterator[Cluster]:
    """Brokers 1, 2 and 3, each of which leads a partition of both internal topics."""
    cluster = open_three()
    cluster.topics.create("t", assignments=[(0, [1]), (1, [2])])
    cluster.groups.ensure_topic()
    cluster.transactions.ensure_topic()
    yield cluster
    cluster.close()


def open_three(disk: MemoryDisk | None = None) -> Cluster:
    return open_cluster(disk, nodes=NODES, **CONFIGS)


def at(cluster: Cluster, node_id: int) -> Client:
    return client_of(cluster, node_id=node_id)


def name_at(cluster: Cluster, node_id: int, kind: int = GROUP, number: int = 0) -> str:
    """A group, or a transactional id, that this broker coordinates; another for each number."""
    those = cluster.groups if kind == GROUP else cluster.transactions
    names = (f"name-{i}" for i in range(1000))
    return [name for name in names if those.leader_of(name) == node_id][number]


def move(cluster: Cluster, topic: str, *replicas: int) -> None:
    """Let the first of these brokers lead every partition of a topic."""
    made = AlterPartitionReassignmentsRequest
    count = len(cluster.topic(topic).partitions)
    parts = [made.Topic.Partition(partition_index=i, replicas=list(replicas)) for i in range(count)]
    request = made(topics=[made.Topic(name=topic, partitions=parts)])
    assert at(cluster, 1).ask(request, 1).error_code == 0


def find(client: Client, kind: int, name: str) -> Any:
    (found,) = client.ask(
        FindCoordinatorRequest(coordinator_keys=[name], key_type=kind), 4
    ).coordinators
    return found


@pytest.mark.parametrize("kind", [GROUP, TRANSACTION])
def test_whichever_broker_is_asked_names_the_leader(three: Cluster, kind: int) -> None:
    for node_id in NODES:
        for asked in NODES:
            found = find(at(three, asked), kind, name_at(three, node_id, kind))
            assert (found.error_code, found.node_id, found.port) == (0, node_id, 9091 + node_id)


@pytest.mark.parametrize("kind", [GROUP, TRANSACTION])
def test_without_a_leader_there_is_no_coordinator(three: Cluster, kind: int) -> None:
    name = name_at(three, 2, kind)
    at(three, 1).ask(UnregisterBrokerRequest(broker_id=2), 0)
    found = find(at(three, 1), kind, name)
    assert (found.error_code, found.node_id) == (Error.COORDINATOR_NOT_AVAILABLE, -1)
    assert found.error_message == "The coordinator is not available."


def _join(group: str) -> Request:
    return join_request(group_id=group)


MEMBER = JoinGroupResponse(member_id="m", generation_id=1, members=[], leader="m")
# Requests about a group, with their versions and the error in the answer.
ABOUT_GROUPS: list[tuple[Callable[[str], Request], int, Callable[[Any], int]]] = [
    (_join, 7, lambda a: a.error_code),
    (lambda g: sync_request(MEMBER, group_id=g), 3, lambda a: a.error_code),
    (lambda g: heartbeat_request(MEMBER, group_id=g), 3, lambda a: a.error_code),
    (lambda g: leave_request("m", group=g), 3, lambda a: a.error_code),
    (
        lambda g: commit_request(1, group=g),
        8,
        lambda a: a.topics[0].partitions[0].error_code,
    ),
    (lambda g: offset_fetch_request(group=g), 9, lambda a: a.groups[0].error_code),
    (lambda g: offset_fetch_request(group=g), 7, lambda a: a.error_code),
    (lambda g: DescribeGroupsRequest(groups=[g]), 5, lambda a: a.groups[0].error_code),
    (lambda g: DeleteGroupsRequest(groups_names=[g]), 2, lambda a: a.results[0].error_code),
    (
        lambda g: OffsetDeleteRequest(
            group_id=g,
            topics=[
                OffsetDeleteRequest.Topic(
                    name="t",
                    partitions=[OffsetDeleteRequest.Topic.Partition(partition_index=0)],
                )
            ],
        ),
        0,
        lambda a: a.error_code,
    ),
    (
        lambda g: ConsumerGroupHeartbeatRequest(
            group_id=g,
            member_id="m",
            member_epoch=0,
            rebalance_timeout_ms=1000,
            subscribed_topic_names=["t"],
            topic_partitions=[],
        ),
        1,
        lambda a: a.error_code,
    ),
    (
        lambda g: ConsumerGroupDescribeRequest(group_ids=[g], include_authorized_operations=False),
        1,
        lambda a: a.groups[0].error_code,
    ),
    (
        lambda g: TxnOffsetCommitRequest(
            transactional_id="x",
            group_id=g,
            producer_id=0,
            producer_epoch=0,
            topics=[
                TxnOffsetCommitRequest.Topic(
                    name="t",
                    partitions=[
                        TxnOffsetCommitRequest.Topic.Partition(
                            partition_index=0, committed_offset=1, committed_metadata=""
                        )
                    ],
                )
            ],
        ),
        3,
        lambda a: a.topics[0].partitions[0].error_code,
    ),
]


@pytest.mark.parametrize(
    ("ask", "version", "error"),
    ABOUT_GROUPS,
    ids=[type(row[0]("g")).__name__ for row in ABOUT_GROUPS],
)
def test_only_its_coordinator_answers_about_a_group(
    three: Cluster, ask: Callable[[str], Request], version: int, error: Callable[[Any], int]
) -> None:
    group = name_at(three, 2)
    found = [error(at(three, node_id).ask(ask(group), version)) for node_id in (1, 3, 2)]
    assert found[:2] == [Error.NOT_COORDINATOR] * 2
    assert found[2] != Error.NOT_COORDINATOR


def _partitions(transactional_id: str) -> AddPartitionsToTxnRequest:
    return AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=transactional_id,
        v3_and_below_producer_id=0,
        v3_and_below_producer_epoch=0,
        v3_and_below_topics=[AddPartitionsToTxnRequest.Topic(name="t", partitions=[0])],
    )


ABOUT_TRANSACTIONS: list[tuple[Callable[[str], Request], int, Callable[[Any], int]]] = [
    (
        lambda x: InitProducerIdRequest(transactional_id=x, transaction_timeout_ms=1000),
        4,
        lambda a: a.error_code,
    ),
    (
        _partitions,
        3,
        lambda a: a.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code,
    ),
    (
        lambda x: AddOffsetsToTxnRequest(
            transactional_id=x, producer_id=0, producer_epoch=0, group_id="g"
        ),
        3,
        lambda a: a.error_code,
    ),
    (
        lambda x: EndTxnRequest(
            transactional_id=x, producer_id=0, producer_epoch=0, committed=True
        ),
        4,
        lambda a: a.error_code,
    ),
    (
        lambda x: DescribeTransactionsRequest(transactional_ids=[x]),
        0,
        lambda a: a.transaction_states[0].error_code,
    ),
]


@pytest.mark.parametrize(
    ("ask", "version", "error"),
    ABOUT_TRANSACTIONS,
    ids=[type(row[0]("x")).__name__ for row in ABOUT_TRANSACTIONS],
)
def test_only_its_coordinator_answers_about_a_transactional_id(
    three: Cluster, ask: Callable[[str], Request], version: int, error: Callable[[Any], int]
) -> None:
    name = name_at(three, 2, TRANSACTION)
    found = [error(at(three, node_id).ask(ask(name), version)) for node_id in (1, 3, 2)]
    assert found[:2] == [Error.NOT_COORDINATOR] * 2
    assert found[2] != Error.NOT_COORDINATOR


def test_each_broker_lists_what_it_coordinates(three: Cluster) -> None:
    for node_id in NODES:
        commit(at(three, node_id), 1, group=name_at(three, node_id))
        begin = InitProducerIdRequest(
            transactional_id=name_at(three, node_id, TRANSACTION), transaction_timeout_ms=1000
        )
        assert at(three, node_id).ask(begin, 4).error_code == 0
    everything = ListTransactionsRequest(
        state_filters=[], producer_id_filters=[], duration_filter=-1
    )
    for node_id in NODES:
        groups = at(three, node_id).ask(ListGroupsRequest(), 4).groups
        assert [each.group_id for each in groups] == [name_at(three, node_id)]
        listed = at(three, node_id).ask(everything, 1).transaction_states
        assert [e.transactional_id for e in listed] == [name_at(three, node_id, TRANSACTION)]


def test_a_group_moves_with_its_members_and_offsets(three: Cluster) -> None:
    group = name_at(three, 1)
    member = _stable(at(three, 1), group)
    old: dict[str, Any] = {
        "group": group,
        "member_id": member.member_id,
        "generation_id_or_member_epoch": 1,
    }
    assert commit(at(three, 1), 5, **old) == Error.NONE
    move(three, CONSUMER_OFFSETS, 2)

    beat = heartbeat_request(member, group_id=group)
    assert at(three, 1).ask(beat, 3).error_code == Error.NOT_COORDINATOR
    assert at(three, 2).ask(beat, 3).error_code == 0
    assert committed(at(three, 2), group=group).committed_offset == 5
    assert commit(at(three, 2), 6, **old) == Error.NONE
    assert commit(at(three, 1), 7, **old) == Error.NOT_COORDINATOR
    again = at(three, 2).ask(sync_request(member, group_id=group), 3)
    assert (again.error_code, again.assignment) == (0, b"all")

    move(three, CONSUMER_OFFSETS, 1)
    assert at(three, 1).ask(beat, 3).error_code == 0
    assert committed(at(three, 1), group=group).committed_offset == 6
    assert at(three, 2).ask(beat, 3).error_code == Error.NOT_COORDINATOR


def _stable(client: Client, group: str) -> JoinGroupResponse:
    member = joined(client, group_id=group)
    assert client.ask(sync_request(member, b"all", group_id=group), 3).error_code == 0
    return member


def test_a_parked_join_is_refused_when_the_group_moves(three: Cluster) -> None:
    group = name_at(three, 1)
    _stable(at(three, 1), group)
    waiting = at(three, 1)
    waiting.send(join_request(group_id=group), 3)
    assert waiting.answers() == []
    move(three, CONSUMER_OFFSETS, 2)
    (answer,) = waiting.answers()
    assert (answer.error_code, answer.generation_id) == (Error.NOT_COORDINATOR, -1)


def test_what_is_queued_after_a_parked_join_is_served_when_the_move_is_complete(
    three: Cluster,
) -> None:
    """It changes the metadata itself, which nobody may do while a change takes effect."""
    group = name_at(three, 1)
    _stable(at(three, 1), group)
    waiting = at(three, 1)
    waiting.send(join_request(group_id=group), 3)
    topic = CreateTopicsRequest.Topic(
        name="new", num_partitions=1, replication_factor=1, configs=[], assignments=[]
    )
    waiting.send(CreateTopicsRequest(topics=[topic], timeout_ms=1000), 7)
    waiting.send(offset_fetch_request(group=name_at(three, 2)), 9)
    move(three, CONSUMER_OFFSETS, 3)
    refused, created, elsewhere = waiting.answers()
    assert refused.error_code == Error.NOT_COORDINATOR
    assert created.topics[0].error_code == 0
    assert three.topics.get("new") is not None
    assert elsewhere.groups[0].error_code == Error.NOT_COORDINATOR


def test_groups_that_stay_are_not_touched(three: Cluster) -> None:
    group, other = name_at(three, 1), name_at(three, 2)
    waiting = at(three, 2)
    _stable(waiting, other)
    waiting.send(join_request(group_id=other), 3)
    made = AlterPartitionReassignmentsRequest
    index = three.groups.partition_for(group)
    part = made.Topic.Partition(partition_index=index, replicas=[3])
    at(three, 1).ask(made(topics=[made.Topic(name=CONSUMER_OFFSETS, partitions=[part])]), 1)
    assert find(at(three, 1), GROUP, group).node_id == 3
    assert waiting.answers() == []


def test_a_transaction_moves_and_is_ended_at_its_new_coordinator(three: Cluster) -> None:
    name = name_at(three, 1, TRANSACTION)
    x = TxnClient(three, name).begin()
    assert x.write(b"a") is Error.NONE
    move(three, TRANSACTION_STATE, 2)
    assert x.state.state is State.ONGOING
    assert x.write(b"b") is Error.NONE  # the partition's leader has not moved
    assert x.end(commit=True) is Error.NOT_COORDINATOR
    x.client = at(three, 2)
    assert x.end(commit=True) is Error.NONE
    assert x.state.state is State.COMPLETE_COMMIT
    assert read(three, committed=True) == [b"a", b"b"]
    epoch = three.topic(TRANSACTION_STATE).partitions[0].leader_epoch
    (state,) = three.partition("t", 0).log.producers.states.values()
    assert (epoch, state.coordinator_epoch) == (1, 1)


def test_an_end_that_was_decided_is_completed_by_the_new_coordinator(
    three: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = TxnClient(three, name_at(three, 1, TRANSACTION)).begin()
    x.write(b"a")
    with monkeypatch.context() as patched:  # the old one stops before it writes the marker
        patched.setattr(three, "settle", lambda: None)
        assert x.end(commit=True) is Error.NONE
        assert x.state.state is State.PREPARE_COMMIT
    move(three, TRANSACTION_STATE, 2)
    assert three.transactions.at(2).find(x.name).state is State.COMPLETE_COMMIT
    assert read(three, committed=True) == [b"a"]
    assert list(three.transactions.at(1).transactions) == []


def test_the_leader_of_data_asks_the_coordinator_wherever_that_is(three: Cluster) -> None:
    """Offsets and batches of a transaction go to their own leaders, not to its coordinator."""
    x = TxnClient(three, name_at(three, 3, TRANSACTION))
    x.client = at(three, 3)
    x.begin()
    assert x.end(commit=False) is Error.NONE
    data = batch(
        b"a",
        producer_id=x.producer.producer_id,
        producer_epoch=x.producer.epoch,
        base_sequence=0,
        transactional=True,
    )
    where: dict[str, Any] = {"partition": 1, "transactional_id": x.name, "version": 12}
    assert produce(at(three, 2), data, **where).error_code == 0
    assert x.state.partitions == (("t", 1),)


def test_deleting_a_topic_reaches_every_coordinator(three: Cluster) -> None:
    for node_id in NODES:
        assert commit(at(three, node_id), 5, group=name_at(three, node_id)) == Error.NONE
    three.topics.delete(three.topic("t"))
    for node_id in NODES:
        found = committed(at(three, node_id), group=name_at(three, node_id))
        assert found.committed_offset == -1


@pytest.mark.parametrize("topic", [CONSUMER_OFFSETS, TRANSACTION_STATE])
def test_without_its_topic_nobody_coordinates_anything(three: Cluster, topic: str) -> None:
    commit(at(three, 1), 5, group=name_at(three, 1))
    TxnClient(three, name_at(three, 1, TRANSACTION)).begin()
    three.topics.delete(three.topic(topic))
    if topic == CONSUMER_OFFSETS:
        assert not any(three.groups.at(node_id).shards for node_id in NODES)
        assert committed_error(at(three, 1)) == Error.NOT_COORDINATOR
        three.groups.ensure_topic()
        assert committed(at(three, 1), group=name_at(three, 1)).committed_offset == -1
    else:
        assert three.transactions.all() == []
        assert three.transactions.leader_of("x") == -1


def committed_error(client: Client) -> int:
    return int(client.ask(offset_fetch_request(), 9).groups[0].error_code)


def test_after_a_restart_each_broker_coordinates_what_it_leads(disk: MemoryDisk) -> None:
    cluster = open_three(disk)
    cluster.topics.create("t")
    cluster.groups.ensure_topic()
    cluster.transactions.ensure_topic()
    for node_id in NODES:
        commit(at(cluster, node_id), node_id, group=name_at(cluster, node_id))
        x = TxnClient(cluster, name_at(cluster, node_id, TRANSACTION))
        x.client = at(cluster, node_id)
        x.begin()
    cluster.close()
    again = open_three(disk)
    for node_id in NODES:
        group, name = name_at(again, node_id), name_at(again, node_id, TRANSACTION)
        assert committed(at(again, node_id), group=group).committed_offset == node_id
        assert list(again.transactions.at(node_id).transactions) == [name]
    again.close()
