"""DeleteGroups (semantics F4, F5, G14): groups without members, and all that they committed."""

from __future__ import annotations

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import Error
from odradek.wire.api.delete_groups import DeleteGroupsRequest

from tests.requests.committed_offsets import commit, committed
from tests.requests.consumer_groups import LEAVES, beat
from tests.requests.groups import joined, leave_request, stable
from tests.support.cluster import Client
from tests.support.versions import first_and_last


@pytest.fixture(autouse=True)
def _topics(cluster: Cluster) -> None:
    cluster.create_topic("t", 1, {})
    cluster.groups.ensure_topic()


def delete(client: Client, *groups: str, version: int = 2) -> list[tuple[str, Error]]:
    answer = client.ask(DeleteGroupsRequest(groups_names=list(groups)), version)
    return [(each.group_id, Error(each.error_code)) for each in answer.results]


@pytest.mark.parametrize("version", first_and_last(DeleteGroupsRequest))
def test_a_group_goes_with_its_offsets(client: Client, version: int) -> None:
    assert commit(client, 5) is Error.NONE
    assert delete(client, "g", version=version) == [("g", Error.NONE)]
    assert committed(client).committed_offset == -1
    assert delete(client, "g", version=version) == [("g", Error.GROUP_ID_NOT_FOUND)]


def test_one_with_members_stays(client: Client) -> None:
    member = stable(client)
    assert delete(client, "g") == [("g", Error.NON_EMPTY_GROUP)]
    client.ask(leave_request(member.member_id), 5)
    assert delete(client, "g") == [("g", Error.NONE)]
    assert joined(client).generation_id == 1, "it begins again"


def test_consumer_groups_are_deleted_alike(client: Client) -> None:
    assert beat(client).error_code == 0
    assert delete(client, "g") == [("g", Error.NON_EMPTY_GROUP)]
    assert beat(client, epoch=LEAVES).error_code == 0
    assert delete(client, "g") == [("g", Error.NONE)]


def test_each_is_answered_and_the_empty_id_is_one(client: Client) -> None:
    assert commit(client, 5, group="") is Error.NONE
    missing = Error.GROUP_ID_NOT_FOUND
    assert dict(delete(client, "", "none")) == {"": Error.NONE, "none": missing}
