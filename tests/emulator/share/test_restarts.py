"""What a group has of a partition after its broker was killed, stopped, or lost its leadership."""

from __future__ import annotations

from pathlib import Path

import pytest
from odradek.emulator import Emulator
from odradek.emulator.cluster import Cluster
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.metadata import MetadataRequest

from tests.requests.produce import batch, produce
from tests.requests.share_groups import (
    ACCEPT,
    RELEASE,
    acquired,
    share_acknowledge,
    share_beat,
    share_fetch,
)
from tests.support.cluster import Client
from tests.support.connection import Connection
from tests.support.several_brokers import open_three


@pytest.mark.parametrize("clean", [False, True])
def test_the_end_of_a_broker_releases_nothing(tmp_path: Path, clean: bool) -> None:
    with Emulator(data_dir=tmp_path / "data") as kafka:
        topic = kafka.create_topic("t")
        part = (_topic_id(kafka), 0)
        with Connection(kafka.bootstrap_servers) as member:
            member.ask(FindCoordinatorRequest(coordinator_keys=["g"]), 6)
            share_beat(member)
            share_fetch(member, {part: ()})
            for _ in range(5):
                topic.produce(b"v")
            assert [each[:2] for each in acquired(share_fetch(member, epoch=1))] == [(0, 4)]
            acks = [(0, 0, [ACCEPT]), (2, 2, [RELEASE])]
            share_acknowledge(member, {part: acks}, 2)
            if clean:
                kafka.restart()
            else:
                kafka.kill()
                kafka.restart(clean=False)
        with Connection(kafka.bootstrap_servers) as other:
            found = acquired(share_fetch(other, {part: ()}, member_id="b"))
        assert found == [(1, 1, 1), (2, 2, 2), (3, 4, 1)]


def _topic_id(kafka: Emulator) -> bytes:
    named = MetadataRequest(topics=[MetadataRequest.Topic(name="t")])
    with Connection(kafka.bootstrap_servers) as asking:
        topic_id: bytes = asking.ask(named, 12).topics[0].topic_id
    return topic_id


def test_another_leader_goes_on(tmp_path: Path) -> None:
    cluster: Cluster = open_three(tmp_path / "three")
    try:
        _move(cluster)
    finally:
        cluster.close()


def _move(cluster: Cluster) -> None:
    topic = cluster.topics.create("t", assignments=[(0, [1, 2])])
    cluster.groups.ensure_topic()
    coordinator = Client(cluster, node_id=cluster.groups.leader_of("g"))
    assert share_beat(coordinator).error_code == 0
    part = (topic.id, 0)
    first = Client(cluster, node_id=1)
    share_fetch(first, {part: ()})
    produce(first, batch(b"a", b"b", b"c"))
    assert acquired(share_fetch(first, epoch=1)) == [(0, 2, 1)]
    share_acknowledge(first, {part: [(0, 0, [ACCEPT]), (1, 1, [RELEASE])]}, 2)
    cluster.replication.kill(1)
    cluster.advance(cluster.config.get("broker.session.timeout.ms"))
    assert topic.partitions[0].leader == 2
    second = Client(cluster, node_id=2)
    assert acquired(share_fetch(second, {part: ()}, member_id="b")) == [(1, 1, 2), (2, 2, 1)]
    assert cluster.share_leaders.at(1).shares() == []
