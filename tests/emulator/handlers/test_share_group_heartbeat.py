"""ShareGroupHeartbeat (semantics N1-N4, N6): what a member must say, and what it is told."""

from __future__ import annotations

from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.storage import MemoryDisk
from odradek.wire import Error

from tests.requests.share_groups import LEAVES, share_beat
from tests.support.cluster import Client, open_cluster

_INTERVAL_MS = 1000


@pytest.fixture(autouse=True)
def topic_id(cluster: Cluster) -> bytes:
    """The id of t, of two partitions."""
    cluster.groups.ensure_topic()
    return cluster.create_topic("t", 2, {}).id


def _held(answer: Any) -> list[tuple[bytes, list[int]]] | None:
    if answer.assignment is None:
        return None
    return [(each.topic_id, each.partitions) for each in answer.assignment.topic_partitions]


def test_a_member_joins_stays_and_leaves(cluster: Cluster, client: Client, topic_id: bytes) -> None:
    joined = share_beat(client)
    assert (joined.error_code, joined.member_id, joined.member_epoch) == (0, "a", 2)
    assert (joined.heartbeat_interval_ms, _held(joined)) == (5000, [])
    early = share_beat(client, epoch=2)
    assert (early.member_epoch, _held(early)) == (2, None), "assigned too short a while ago"
    cluster.advance(_INTERVAL_MS)
    assigned = share_beat(client, epoch=2)
    assert (assigned.member_epoch, _held(assigned)) == (3, [(topic_id, [0, 1])])
    stays = share_beat(client, epoch=3)
    assert (stays.member_epoch, _held(stays)) == (3, None)
    named = share_beat(client, epoch=3, subscribed_topic_names=["t"])
    assert (named.member_epoch, _held(named)) == (3, [(topic_id, [0, 1])])
    left = share_beat(client, epoch=LEAVES)
    assert (left.error_code, left.member_epoch, left.heartbeat_interval_ms) == (0, -1, 0)
    assert share_beat(client, epoch=3).error_code == Error.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"member_id": ""}, None),
        ({"member_id": "m" * 37}, None),
        ({"member_id": " "}, "MemberId can't be empty."),
        ({"group_id": " "}, "GroupId can't be empty."),
        ({"rack_id": ""}, "RackId can't be empty."),
        ({"subscribed_topic_names": None}, "SubscribedTopicNames must be set in first request."),
        ({"subscribed_topic_names": []}, "SubscribedTopicNames must be set in first request."),
        ({"epoch": -2}, "MemberEpoch is invalid."),
    ],
)
def test_what_a_member_must_say(
    client: Client, change: dict[str, Any], message: str | None
) -> None:
    answer = share_beat(client, **change)
    assert (answer.error_code, answer.error_message) == (Error.INVALID_REQUEST, message)
    assert share_beat(client, epoch=1).error_code == Error.GROUP_ID_NOT_FOUND, "no group is left"


def test_an_epoch_is_the_member_s_or_the_one_before(cluster: Cluster, client: Client) -> None:
    share_beat(client)
    cluster.advance(_INTERVAL_MS)
    share_beat(client, epoch=2)
    assert share_beat(client, epoch=2).member_epoch == 3
    assert share_beat(client, epoch=4).error_code == Error.FENCED_MEMBER_EPOCH
    assert share_beat(client, epoch=1).error_code == Error.FENCED_MEMBER_EPOCH


def test_a_session_ends(cluster: Cluster, client: Client) -> None:
    share_beat(client)
    cluster.advance(44_999)
    assert share_beat(client, epoch=2).error_code == 0
    cluster.advance(45_000)
    assert share_beat(client, epoch=2).error_code == Error.UNKNOWN_MEMBER_ID


def test_a_group_takes_so_many_members() -> None:
    cluster = open_cluster(group_share_max_size="1")
    cluster.groups.ensure_topic()
    client = Client(cluster)
    assert share_beat(client).error_code == 0
    assert share_beat(client).error_code == 0
    assert share_beat(client, "b").error_code == Error.GROUP_MAX_SIZE_REACHED
    cluster.close()


def test_a_grown_topic_is_assigned_after_two_more_epochs(
    cluster: Cluster, client: Client, topic_id: bytes
) -> None:
    share_beat(client)
    cluster.advance(_INTERVAL_MS)
    share_beat(client, epoch=2)
    cluster.topics.add_partitions(cluster.topic("t"), 3)
    cluster.advance(_INTERVAL_MS)
    assert _held(share_beat(client, epoch=3)) is None
    cluster.advance(_INTERVAL_MS)
    answer = share_beat(client, epoch=4)
    assert (answer.member_epoch, _held(answer)) == (5, [(topic_id, [0, 1, 2])])


def test_a_restart_restores_the_group() -> None:
    disk = MemoryDisk()
    cluster = open_cluster(disk)
    cluster.groups.ensure_topic()
    cluster.create_topic("t", 2, {})
    share_beat(Client(cluster))
    cluster.advance(_INTERVAL_MS)
    share_beat(Client(cluster), epoch=2)
    before = cluster.groups.at(1).share.group("g")
    cluster.close()
    again = open_cluster(disk, now=before.target_timestamp)
    after = again.groups.at(1).share.group("g")
    for name in ("epoch", "metadata_hash", "target_epoch", "members", "targets"):
        assert getattr(after, name) == getattr(before, name), name
    assert after.known_states.initialized.keys() == before.known_states.initialized.keys()
    assert share_beat(Client(again), epoch=3).member_epoch == 3
    again.close()
