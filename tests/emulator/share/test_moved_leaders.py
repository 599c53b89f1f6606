"""What a group has of a partition after another broker has come to lead it, or its state."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.share.state import SharePartitionKey
from odradek.wire import Error

from tests.requests.produce import batch, produce
from tests.requests.share_groups import (
    ACCEPT,
    RELEASE,
    acquired,
    share_acknowledge,
    share_acknowledge_request,
    share_beat,
    share_fetch,
    share_fetch_request,
)
from tests.support.cluster import Client
from tests.support.several_brokers import open_three


class Group:
    """A group whose state broker `coordinator` leads, and which has accepted a of t-0, released b
    and still has c. Broker 1 leads t-0, and broker 2 follows."""

    def __init__(self, cluster: Cluster, coordinator: int) -> None:
        self.cluster = cluster
        self.topic = cluster.topics.create("t", assignments=[(0, [1, 2])])
        cluster.groups.ensure_topic()
        states = cluster.share_coordinators
        states.ensure_topic()
        keys = (SharePartitionKey(f"g{number}", self.topic.id, 0) for number in count())
        self.key = next(each for each in keys if states.leader_of(each.text) == coordinator)
        self.part = (self.topic.id, 0)
        joins = Client(cluster, node_id=cluster.groups.leader_of(self.key.group_id))
        assert share_beat(joins, group_id=self.key.group_id).error_code == 0
        self.first = first = Client(cluster, node_id=1)
        share_fetch(first, {self.part: ()}, group_id=self.key.group_id)
        produce(first, batch(b"a", b"b", b"c"))
        assert acquired(share_fetch(first, epoch=1, group_id=self.key.group_id)) == [(0, 2, 1)]
        done = [(0, 0, [ACCEPT]), (1, 1, [RELEASE])]
        share_acknowledge(first, {self.part: done}, 2, group_id=self.key.group_id)

    def accept(self, *, in_fetch: bool) -> list[tuple[int, int]]:
        """Accept c at broker 1; after how many seconds which error is answered."""
        asked = {self.part: [(2, 2, [ACCEPT])]}
        request = share_fetch_request if in_fetch else share_acknowledge_request
        self.first.send(request(asked, 3, group_id=self.key.group_id), 2)
        found = []
        for seconds in range(40):
            for answer in self.first.answers():
                parts = [each for topic in answer.responses for each in topic.partitions]
                found += [
                    (seconds, each.acknowledge_error_code if in_fetch else each.error_code)
                    for each in parts
                ]
            self.cluster.advance(1000)
        return found

    def kill_first(self) -> None:
        """Broker 1 is gone, and the others know it."""
        self.cluster.replication.kill(1)
        self.cluster.advance(self.cluster.config.get("broker.session.timeout.ms"))
        assert self.topic.partitions[0].leader == 2

    def fetch_from_second(self, member_id: str) -> tuple[list[tuple[int, int, int]], int]:
        """What a member acquires of broker 2, and the error of the partition."""
        asking = Client(self.cluster, node_id=2)
        asked = share_fetch_request(
            {self.part: ()}, 0, member_id, group_id=self.key.group_id, max_wait_ms=100
        )
        asking.send(asked, 2)
        self.cluster.advance(100)
        (answer,) = asking.answers()
        (error,) = {each.error_code for topic in answer.responses for each in topic.partitions}
        return acquired(answer), error


@pytest.fixture
def replicated() -> Iterator[Cluster]:
    """Three brokers, each of which has a replica of every state, as `Emulator(brokers=3)` has."""
    cluster = open_three(
        share_coordinator_state_topic_replication_factor="3",
        group_share_record_lock_duration_ms="60000",
    )
    yield cluster
    cluster.close()


@pytest.mark.parametrize("coordinator", [1, 2, 3])
def test_another_leader_goes_on(replicated: Cluster, coordinator: int) -> None:
    """Also where the state's own partition was led by the broker that is killed."""
    group = Group(replicated, coordinator)
    group.kill_first()
    assert group.fetch_from_second("b") == ([(1, 1, 2), (2, 2, 1)], Error.NONE)
    assert replicated.share_partition_managers.at(1).shares() == []


def test_a_state_on_the_killed_broker_alone_is_read_when_it_is_back() -> None:
    cluster = open_three()
    try:
        group = Group(cluster, coordinator=1)
        group.kill_first()
        assert group.fetch_from_second("b") == ([], Error.COORDINATOR_NOT_AVAILABLE)
        cluster.replication.start(1)
        cluster.settle()
        assert group.fetch_from_second("c") == ([(1, 1, 2), (2, 2, 1)], Error.NONE)
    finally:
        cluster.close()


@pytest.mark.parametrize("in_fetch", [False, True])
def test_an_acknowledgement_waits_until_another_broker_coordinates(
    replicated: Cluster, in_fetch: bool
) -> None:
    group = Group(replicated, coordinator=3)
    replicated.replication.kill(3)
    assert group.accept(in_fetch=in_fetch) == [(2, Error.NONE)]
    group.kill_first()
    assert group.fetch_from_second("b") == ([(1, 1, 2)], Error.NONE)


@pytest.mark.parametrize("in_fetch", [False, True])
def test_where_none_comes_it_is_refused_after_half_a_minute(in_fetch: bool) -> None:
    cluster = open_three(group_share_record_lock_duration_ms="60000")
    try:
        group = Group(cluster, coordinator=3)
        cluster.replication.kill(3)
        assert group.accept(in_fetch=in_fetch) == [(30, Error.COORDINATOR_NOT_AVAILABLE)]
    finally:
        cluster.close()


def test_a_client_that_leaves_meanwhile_has_acknowledged_nothing(replicated: Cluster) -> None:
    group = Group(replicated, coordinator=3)
    replicated.replication.kill(3)
    asked = {group.part: [(2, 2, [ACCEPT])]}
    group.first.send(share_acknowledge_request(asked, 3, group_id=group.key.group_id), 2)
    group.first.connection.close()
    replicated.advance(40_000)
    group.kill_first()
    assert group.fetch_from_second("b") == ([(1, 1, 2), (2, 2, 1)], Error.NONE)
