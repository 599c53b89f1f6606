"""DescribeGroups (semantics G13): classic groups, in every state, and no others."""

from __future__ import annotations

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import Error
from odradek.wire.api.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse

from tests.requests.committed_offsets import commit
from tests.requests.consumer_groups import beat
from tests.requests.groups import READS_NOTHING, join_request, joined, leave_request, stable
from tests.support.cluster import Client
from tests.support.versions import first_and_last

Group = DescribeGroupsResponse.Group
NOT_ASKED = -(2**31)


@pytest.fixture(autouse=True)
def _topics(cluster: Cluster) -> None:
    cluster.create_topic("t", 1, {})
    cluster.groups.ensure_topic()


def describe(
    client: Client, *groups: str, version: int = 6, operations: bool = False
) -> list[Group]:
    request = DescribeGroupsRequest(groups=list(groups), include_authorized_operations=operations)
    found: list[Group] = client.ask(request, version).groups
    return found


@pytest.mark.parametrize("version", [*first_and_last(DescribeGroupsRequest), 5])
def test_a_stable_group_is_shown_with_its_members(client: Client, version: int) -> None:
    member = stable(client, b"all")
    found, missing = describe(client, "g", "none", version=version)
    assert (found.error_code, found.group_state) == (0, "Stable")
    assert (found.protocol_type, found.protocol_data) == ("consumer", "range")
    (shown,) = found.members
    assert (shown.member_id, shown.client_id) == (member.member_id, "test")
    assert (shown.client_host, shown.group_instance_id) == ("/127.0.0.1", None)
    assert (shown.member_metadata, shown.member_assignment) == (READS_NOTHING, b"all")
    assert (missing.group_state, missing.members) == ("Dead", [])
    if version >= 6:
        assert missing.error_code == Error.GROUP_ID_NOT_FOUND
        assert missing.error_message == "Group none not found."
    else:
        assert missing.error_code == 0


def test_before_the_sync_neither_protocol_nor_metadata_are_shown(client: Client) -> None:
    joined(client)
    (found,) = describe(client, "g")
    assert (found.group_state, found.protocol_data) == ("CompletingRebalance", "")
    assert [(m.member_metadata, m.member_assignment) for m in found.members] == [(b"", b"")]


def test_a_group_without_members_is_empty_whether_it_had_some_or_never(client: Client) -> None:
    client.ask(leave_request(stable(client).member_id), 5)
    assert commit(client, 5, group="simple") is Error.NONE
    states = [(each.group_state, each.protocol_type) for each in describe(client, "g", "simple")]
    assert states == [("Empty", "consumer"), ("Empty", "")]


def test_an_instance_is_reported_from_version_4_on(client: Client) -> None:
    client.ask(join_request(group_instance_id="i"), 9)
    members = [describe(client, "g", version=version)[0].members[0] for version in (3, 4)]
    assert [each.group_instance_id for each in members] == [None, "i"]


def test_operations_are_those_of_a_broker_without_an_authorizer(client: Client) -> None:
    stable(client)
    found, missing = describe(client, "g", "none", operations=True)
    assert (found.authorized_operations, missing.authorized_operations) == (3400, NOT_ASKED)
    assert describe(client, "g")[0].authorized_operations == NOT_ASKED


def test_a_group_named_twice_is_answered_twice(client: Client) -> None:
    stable(client)
    assert [each.group_id for each in describe(client, "g", "g")] == ["g", "g"]


def test_a_consumer_group_is_none_of_these(client: Client) -> None:
    assert beat(client).error_code == 0
    (found,) = describe(client, "g")
    assert (found.error_code, found.group_state) == (Error.GROUP_ID_NOT_FOUND, "Dead")
    assert found.error_message == "Group g is not a classic group."
