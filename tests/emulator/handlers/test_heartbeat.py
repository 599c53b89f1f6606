"""Heartbeat (semantics G9): who is alive, and who must join anew."""

from __future__ import annotations

from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import Error
from odradek.wire.api.heartbeat import HeartbeatRequest

from tests.requests.groups import heartbeat_request, join_request, joined, stable, sync_request
from tests.support.cluster import Client, client_of
from tests.support.versions import first_and_last


@pytest.fixture(autouse=True)
def _topics(cluster: Cluster) -> None:
    cluster.groups.ensure_topic()


def beat(client: Client, request: HeartbeatRequest, version: int = 4) -> Error:
    return Error(client.ask(request, version).error_code)


@pytest.mark.parametrize("version", first_and_last(HeartbeatRequest))
def test_a_member_is_alive_before_and_after_it_synced(client: Client, version: int) -> None:
    member = joined(client)
    assert beat(client, heartbeat_request(member), version) is Error.NONE
    client.ask(sync_request(member), 3)
    assert beat(client, heartbeat_request(member), version) is Error.NONE


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"group_id": ""}, Error.INVALID_GROUP_ID),
        ({"group_id": "none"}, Error.UNKNOWN_MEMBER_ID),
        ({"member_id": "nobody"}, Error.UNKNOWN_MEMBER_ID),
        ({"generation_id": 0}, Error.ILLEGAL_GENERATION),
        ({"generation_id": 2}, Error.ILLEGAL_GENERATION),
        ({"group_instance_id": "nobody's"}, Error.UNKNOWN_MEMBER_ID),
    ],
)
def test_what_is_refused(client: Client, change: dict[str, Any], error: Error) -> None:
    assert beat(client, heartbeat_request(stable(client), **change)) is error


def test_while_members_gather_it_must_join_anew(cluster: Cluster, client: Client) -> None:
    member = stable(client)
    other = client_of(cluster)
    other.send(join_request(other.ask(join_request(), 7).member_id), 7)
    assert beat(client, heartbeat_request(member)) is Error.REBALANCE_IN_PROGRESS
    # Another generation is found first.
    assert beat(client, heartbeat_request(member, generation_id=9)) is Error.ILLEGAL_GENERATION


def test_who_lost_its_instance_is_fenced(cluster: Cluster, client: Client) -> None:
    old = client.ask(join_request(group_instance_id="i"), 9)
    assert client_of(cluster).ask(join_request(group_instance_id="i"), 9).error_code == 0
    fenced = heartbeat_request(old, group_instance_id="i")
    assert beat(client, fenced) is Error.FENCED_INSTANCE_ID


def test_heartbeats_keep_a_session_alive(cluster: Cluster, client: Client) -> None:
    member = stable(client)
    for _ in range(3):
        cluster.advance(9_999)
        assert beat(client, heartbeat_request(member)) is Error.NONE
    cluster.advance(10_000)
    assert beat(client, heartbeat_request(member)) is Error.UNKNOWN_MEMBER_ID
