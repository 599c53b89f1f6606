"""Coordinators wait for replicas that are in sync and do not follow, as those of three nodes of
Kafka 4.3.1 did while one of the nodes stood still (semantics O30, O31)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.control.replicated import Replicated
from odradek.emulator.replication.lagging import catch_up, lag
from odradek.emulator.transactions.transaction import Producer
from odradek.wire import Error, Request
from odradek.wire.api.delete_groups import DeleteGroupsRequest

from tests.requests.committed_offsets import commit_request, committed, offset_fetch_request
from tests.requests.consumer_groups import beat_request
from tests.requests.groups import heartbeat_request, join_request, stable, sync_request
from tests.requests.produce import batch, produce
from tests.requests.transactions import add_request, end_request, init_request
from tests.support.cluster import Client
from tests.support.several_brokers import open_three

COMMIT_MS, TRANSACTION_MS = 5000, 60_000


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Broker 1 coordinates everything; group g has committed 1."""
    cluster = open_three(
        broker_session_timeout_ms="900000",
        replica_lag_time_max_ms="900000",
        offsets_topic_num_partitions="1",
        offsets_topic_replication_factor="3",
        transaction_state_log_num_partitions="1",
        transaction_state_log_replication_factor="3",
    )
    cluster.topics.create("t", assignments=[(0, [1])])
    cluster.groups.ensure_topic()
    cluster.transactions.ensure_topic()
    Client(cluster).ask(commit_request(1), 8)
    yield cluster
    cluster.close()


def waits(cluster: Cluster, request: Request, version: int) -> Client:
    """It is asked, and not answered."""
    client = Client(cluster)
    client.send(request, version)
    assert client.answers() == []
    return client


def resume(cluster: Cluster) -> None:
    """Broker 3 follows again."""
    cluster.replication.resume(3)
    cluster.settle()


def test_a_commit_waits_for_a_broker_that_stands_still(cluster: Cluster) -> None:
    cluster.replication.pause(3)
    client = waits(cluster, commit_request(5), 8)
    assert committed(Client(cluster)).committed_offset == 1  # as far as all in sync have it
    assert committed(Client(cluster), version=7).committed_offset == 1
    resume(cluster)
    (answer,) = client.answers()
    assert answer.topics[0].partitions[0].error_code == Error.NONE
    assert committed(Client(cluster)).committed_offset == 5
    assert not [step for step in cluster.chain if isinstance(step, Replicated)]


def test_a_commit_that_waits_for_too_long_is_done_all_the_same(cluster: Cluster) -> None:
    cluster.replication.pause(3)
    client = waits(cluster, commit_request(5), 8)
    cluster.advance(COMMIT_MS - 1)
    assert client.answers() == []
    cluster.advance(1)
    (answer,) = client.answers()
    assert answer.topics[0].partitions[0].error_code == Error.COORDINATOR_NOT_AVAILABLE
    assert committed(Client(cluster)).committed_offset == 1
    resume(cluster)
    assert committed(Client(cluster)).committed_offset == 5


def test_nothing_is_committed_for_a_group_that_is_new(cluster: Cluster) -> None:
    cluster.replication.pause(3)
    waits(cluster, commit_request(5, group="new"), 8)
    assert committed(Client(cluster), group="new").committed_offset == -1


def test_what_else_a_group_coordinator_waits_with(cluster: Cluster) -> None:
    member = stable(Client(cluster), version=3)
    cluster.replication.pause(3)
    asked: list[tuple[Request, int, Error]] = [
        (commit_request(5, group="h"), 8, Error.COORDINATOR_NOT_AVAILABLE),
        (heartbeat_request(member), 3, Error.COORDINATOR_NOT_AVAILABLE),
        (beat_request(group_id="c"), 1, Error.COORDINATOR_NOT_AVAILABLE),
        (offset_fetch_request(require_stable=True), 7, Error.NOT_COORDINATOR),
        (DeleteGroupsRequest(groups_names=["h"]), 2, Error.COORDINATOR_NOT_AVAILABLE),
    ]
    clients = [waits(cluster, request, version) for request, version, _ in asked]
    cluster.advance(COMMIT_MS)
    for client, (_, _, expected) in zip(clients, asked, strict=True):
        (answer,) = client.answers()
        parts = getattr(answer, "results", None) or getattr(answer, "topics", None) or [answer]
        codes = [getattr(each, "error_code", None) for each in parts]
        codes += [each.error_code for part in parts for each in getattr(part, "partitions", ())]
        assert expected in codes
    resume(cluster)
    # What a group has written is there, and the group that was to go too.
    assert committed(Client(cluster), group="h").committed_offset == 5


def test_what_is_refused_does_not_wait_nor_who_joins(cluster: Cluster) -> None:
    cluster.replication.pause(3)
    waits(cluster, commit_request(5), 8)
    client = Client(cluster)
    stranger = client.ask(commit_request(5, member_id="x", generation_id_or_member_epoch=1), 8)
    assert stranger.topics[0].partitions[0].error_code == Error.UNKNOWN_MEMBER_ID
    joined = client.ask(join_request(group_id="j"), 3)
    assert joined.error_code == Error.NONE
    waits(cluster, sync_request(joined, group_id="j"), 3)


def test_a_transaction_coordinator_waits_for_as_long_as_the_transaction(cluster: Cluster) -> None:
    client = Client(cluster)
    found = client.ask(init_request(timeout_ms=TRANSACTION_MS), 4)
    who = Producer(found.producer_id, found.producer_epoch)
    cluster.replication.pause(3)
    adding = waits(cluster, add_request(who, [("t", [0])]), 3)
    assert client.ask(end_request(who), 3).error_code == Error.CONCURRENT_TRANSACTIONS
    beginning = waits(cluster, init_request("y", timeout_ms=TRANSACTION_MS + 1), 4)
    cluster.advance(TRANSACTION_MS)
    (added,) = adding.answers()
    (part,) = added.results_by_topic_v3_and_below[0].results_by_partition
    assert part.partition_error_code == Error.COORDINATOR_NOT_AVAILABLE
    assert beginning.answers() == []
    cluster.advance(1)
    (begun,) = beginning.answers()
    assert begun.error_code == Error.COORDINATOR_NOT_AVAILABLE
    resume(cluster)
    assert client.ask(end_request(who), 3).error_code == Error.NONE


def test_a_coordinator_that_stops_meanwhile_is_none_any_more(cluster: Cluster) -> None:
    """And the offsets are there at the next one, which had them."""
    cluster.replication.pause(3)
    client = waits(cluster, commit_request(5), 8)
    cluster.replication.stop(1)
    (answer,) = client.answers()
    assert answer.topics[0].partitions[0].error_code == Error.NOT_COORDINATOR


def test_a_replica_that_lags_is_waited_for_and_who_was_killed(cluster: Cluster) -> None:
    partition = cluster.partition("__consumer_offsets", 0)
    lag(cluster.replication, partition, 2, None)
    client = waits(cluster, commit_request(5), 8)
    catch_up(cluster.replication, partition, 2)
    cluster.settle()
    assert client.answers()
    cluster.replication.kill(3)
    client = waits(cluster, commit_request(6), 8)
    cluster.replication.end_session(3)
    cluster.settle()
    assert client.answers()
    assert committed(Client(cluster)).committed_offset == 6


def test_who_was_killed_leaves_those_in_sync_before_its_session_ends() -> None:
    cluster = open_three(broker_session_timeout_ms="9000", replica_lag_time_max_ms="1000")
    cluster.topics.create("t", assignments=[(0, [1, 2])])
    cluster.replication.kill(2)
    partition = cluster.partition("t", 0)
    assert produce(Client(cluster), batch(b"x"), acks=1).error_code == Error.NONE
    assert partition.high_watermark == 0
    cluster.advance(2000)
    assert (partition.isr, partition.high_watermark) == ([1], 1)
    assert not cluster.replication.brokers[2].is_fenced
    cluster.close()
