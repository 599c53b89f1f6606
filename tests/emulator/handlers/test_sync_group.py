"""SyncGroup (semantics G8): the leader hands out assignments, the others wait for theirs."""

from __future__ import annotations

from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import Error
from odradek.wire.api.sync_group import SyncGroupRequest

from tests.requests.groups import join_request, joined, sync_request
from tests.support.cluster import Client, client_of
from tests.support.versions import first_and_last


@pytest.fixture(autouse=True)
def _topics(cluster: Cluster) -> None:
    cluster.groups.ensure_topic()


@pytest.mark.parametrize("version", [*first_and_last(SyncGroupRequest), 4])
def test_a_leader_gets_what_it_gives_itself_and_gets_it_again(client: Client, version: int) -> None:
    member = joined(client)
    for assignment in (b"all", b"ignored, for the group is Stable"):
        answer = client.ask(sync_request(member, assignment, version), version)
        assert (answer.error_code, answer.assignment) == (0, b"all")
        expected = ("consumer", "range") if version >= 5 else (None, None)
        assert (answer.protocol_type, answer.protocol_name) == expected


def test_a_follower_waits_for_its_part(cluster: Cluster, client: Client) -> None:
    leader = joined(client)
    client.ask(sync_request(leader, b"all"), 3)
    other = client_of(cluster)
    other.send(join_request(other.ask(join_request(), 7).member_id), 7)
    leader = client.ask(join_request(leader.member_id), 7)
    (follower,) = other.answers()

    other.send(sync_request(follower, assignments=[]), 3)
    assert other.answers() == []
    given = [
        SyncGroupRequest.Assignment(member_id=member_id, assignment=assignment)
        for member_id, assignment in (
            (leader.member_id, b"a half"),
            (follower.member_id, b"the other"),
            ("a stranger", b"ignored"),
        )
    ]
    assert client.ask(sync_request(leader, assignments=given), 3).assignment == b"a half"
    assert [answer.assignment for answer in other.answers()] == [b"the other"]


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"group_id": ""}, Error.INVALID_GROUP_ID),
        ({"group_id": "none"}, Error.UNKNOWN_MEMBER_ID),
        ({"member_id": "nobody"}, Error.UNKNOWN_MEMBER_ID),
        ({"protocol_type": "connect"}, Error.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_name": "roundrobin"}, Error.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_type": None}, Error.INCONSISTENT_GROUP_PROTOCOL),
        ({"group_id": "none", "protocol_name": None}, Error.INCONSISTENT_GROUP_PROTOCOL),
        ({"generation_id": 2}, Error.ILLEGAL_GENERATION),
        # Checked in this order.
        ({"generation_id": 2, "protocol_name": "x"}, Error.ILLEGAL_GENERATION),
        ({"generation_id": 2, "protocol_name": None}, Error.INCONSISTENT_GROUP_PROTOCOL),
        ({"member_id": "nobody", "protocol_name": "x"}, Error.UNKNOWN_MEMBER_ID),
    ],
)
def test_what_is_refused(client: Client, change: dict[str, Any], error: Error) -> None:
    request = sync_request(joined(client), version=5, **change)
    answer = client.ask(request, 5)
    assert (Error(answer.error_code), answer.assignment) == (error, b"")


def test_while_members_gather_nobody_syncs(cluster: Cluster, client: Client) -> None:
    member = joined(client)
    client.ask(sync_request(member, b"all"), 3)
    other = client_of(cluster)
    other.send(join_request(other.ask(join_request(), 7).member_id), 7)
    assert client.ask(sync_request(member), 3).error_code == Error.REBALANCE_IN_PROGRESS
