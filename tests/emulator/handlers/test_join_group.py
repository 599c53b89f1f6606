"""JoinGroup (semantics G2, G3): who gets in, in which version, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import Error
from odradek.wire.api.join_group import JoinGroupRequest

from tests.requests.configs import change_request
from tests.requests.groups import (
    READS_NOTHING,
    heartbeat_request,
    join_request,
    joined,
    sync_request,
)
from tests.support.cluster import Client, client_of
from tests.support.versions import first_and_last

Protocol = JoinGroupRequest.Protocol


@pytest.fixture(autouse=True)
def _topics(cluster: Cluster) -> None:
    cluster.groups.ensure_topic()


@pytest.mark.parametrize("version", [*first_and_last(JoinGroupRequest), 6, 7])
def test_the_first_member_leads_generation_1(client: Client, version: int) -> None:
    answer = joined(client, version)
    assert (answer.error_code, answer.generation_id, answer.protocol_name) == (0, 1, "range")
    assert answer.leader == answer.member_id
    assert [(m.member_id, m.metadata) for m in answer.members] == [
        (answer.member_id, READS_NOTHING)
    ]
    assert answer.protocol_type == ("consumer" if version >= 7 else None)
    assert answer.skip_assignment is False


def test_the_first_member_of_a_group_that_cannot_be_written(client: Client) -> None:
    """As a real 4.3.1 with `message.max.bytes=0`: the id is given before the write, and unknown
    when it has failed."""
    client.ask(change_request((4, "", [("message.max.bytes", 0, "0")])), 1)
    given = client.ask(join_request(), 5)
    assert given.error_code == Error.MEMBER_ID_REQUIRED
    assert client.ask(join_request(given.member_id), 5).error_code == Error.UNKNOWN_MEMBER_ID
    assert client.ask(join_request(), 3).error_code == Error.UNKNOWN_SERVER_ERROR


@pytest.mark.parametrize(("version", "nothing"), [(4, ""), (6, ""), (7, None), (9, None)])
def test_from_version_4_on_a_member_is_given_its_id_first(
    client: Client, version: int, nothing: str | None
) -> None:
    answer = client.ask(join_request(), version)
    assert (answer.error_code, answer.generation_id) == (Error.MEMBER_ID_REQUIRED, -1)
    assert answer.protocol_name == nothing
    assert answer.member_id.startswith("test-")
    assert len(answer.member_id) == len("test-") + 36


def test_a_static_member_goes_straight_in(client: Client) -> None:
    answer = client.ask(join_request(group_instance_id="i"), 9)
    assert (answer.error_code, answer.generation_id) == (0, 1)
    assert answer.member_id.startswith("i-")


def test_a_second_member_is_answered_when_the_first_has_joined_again(
    cluster: Cluster, client: Client
) -> None:
    first = joined(client)
    client.ask(sync_request(first, b"all"), 3)
    other = client_of(cluster)
    given = other.ask(join_request(), 7)
    other.send(join_request(given.member_id), 7)
    assert other.answers() == []
    assert client.ask(heartbeat_request(first), 4).error_code == Error.REBALANCE_IN_PROGRESS
    again = client.ask(join_request(first.member_id), 7)
    (second,) = other.answers()
    assert (again.generation_id, second.generation_id) == (2, 2)
    assert (len(again.members), len(second.members)) == (2, 0)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"group_id": ""}, Error.INVALID_GROUP_ID),
        ({"session_timeout_ms": 5_999}, Error.INVALID_SESSION_TIMEOUT),
        ({"session_timeout_ms": 1_800_001}, Error.INVALID_SESSION_TIMEOUT),
        ({"member_id": "nobody"}, Error.UNKNOWN_MEMBER_ID),
        ({"protocols": []}, Error.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_type": ""}, Error.INCONSISTENT_GROUP_PROTOCOL),
        (
            {"protocols": [Protocol(name="range", metadata=b"")] * 2},
            Error.INCONSISTENT_GROUP_PROTOCOL,
        ),
    ],
)
@pytest.mark.parametrize("version", first_and_last(JoinGroupRequest))
def test_what_no_group_takes(
    cluster: Cluster, client: Client, change: dict[str, Any], error: Error, version: int
) -> None:
    request = join_request(**change)
    answer = client.ask(request, version)
    assert Error(answer.error_code) is error
    assert (answer.generation_id, answer.members) == (-1, [])
    assert answer.member_id == request.member_id


@pytest.mark.parametrize(
    "change",
    [{"protocol_type": "connect"}, {"protocols": [Protocol(name="other", metadata=b"")]}],
)
def test_what_a_group_with_members_does_not_take(
    cluster: Cluster, client: Client, change: dict[str, Any]
) -> None:
    joined(client)
    answer = client_of(cluster).ask(join_request(**change), 9)
    assert answer.error_code == Error.INCONSISTENT_GROUP_PROTOCOL
