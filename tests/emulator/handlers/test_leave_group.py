"""LeaveGroup (semantics G11): by id or by instance; one member before v3, several since."""

from __future__ import annotations

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import Error
from odradek.wire.api.leave_group import LeaveGroupRequest

from tests.requests.groups import heartbeat_request, join_request, leave_request, stable
from tests.support.cluster import Client
from tests.support.versions import first_and_last

Member = LeaveGroupRequest.Member


@pytest.fixture(autouse=True)
def _topics(cluster: Cluster) -> None:
    cluster.groups.ensure_topic()


@pytest.mark.parametrize("version", [*first_and_last(LeaveGroupRequest), 2, 3])
def test_a_member_leaves(client: Client, version: int) -> None:
    member = stable(client)
    answer = client.ask(leave_request(member.member_id), version)
    assert answer.error_code == 0
    expected = [(member.member_id, 0)] if version >= 3 else []
    assert [(each.member_id, each.error_code) for each in answer.members] == expected
    beat = client.ask(heartbeat_request(member), 4)
    assert beat.error_code == Error.UNKNOWN_MEMBER_ID


def test_before_version_3_the_error_stands_at_the_top(client: Client) -> None:
    assert client.ask(leave_request("nobody"), 2).error_code == Error.UNKNOWN_MEMBER_ID
    answer = client.ask(leave_request("nobody"), 3)
    assert (answer.error_code, answer.members[0].error_code) == (0, Error.UNKNOWN_MEMBER_ID)


@pytest.mark.parametrize("version", first_and_last(LeaveGroupRequest))
def test_an_empty_group_id_is_refused(client: Client, version: int) -> None:
    answer = client.ask(leave_request("m", group=""), version)
    assert (answer.error_code, answer.members) == (Error.INVALID_GROUP_ID, [])


def test_each_member_has_its_own_error(client: Client) -> None:
    member = stable(client)
    static = client.ask(join_request(group_id="s", group_instance_id="i"), 9)
    request = leave_request(member.member_id, "nobody", member.member_id)
    codes = [each.error_code for each in client.ask(request, 5).members]
    assert codes == [0, Error.UNKNOWN_MEMBER_ID, Error.UNKNOWN_MEMBER_ID]

    leavers = [
        Member(member_id="another", group_instance_id="i"),
        Member(member_id="", group_instance_id="nobody's"),
        Member(member_id="", group_instance_id="i"),
    ]
    answer = client.ask(LeaveGroupRequest(group_id="s", members=leavers), 5)
    assert static.error_code == 0
    assert [(m.member_id, m.group_instance_id, m.error_code) for m in answer.members] == [
        ("another", "i", Error.FENCED_INSTANCE_ID),
        ("", "nobody's", Error.UNKNOWN_MEMBER_ID),
        ("", "i", Error.NONE),
    ]


def test_a_static_member_may_leave_by_its_id_alone(client: Client) -> None:
    static = client.ask(join_request(group_instance_id="i"), 9)
    (left,) = client.ask(leave_request(static.member_id), 5).members
    assert left.error_code == 0
