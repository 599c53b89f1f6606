"""ConsumerGroupDescribe (semantics G13): what each member has, and what it shall have."""

from __future__ import annotations

from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import Error
from odradek.wire.api.consumer_group_describe import ConsumerGroupDescribeRequest

from tests.requests.consumer_groups import beat
from tests.requests.groups import stable
from tests.support.cluster import Client
from tests.support.versions import first_and_last

CONSUMER, NOT_TOLD = 1, -1
NOT_ASKED = -(2**31)
ASSIGNMENT_INTERVAL_MS = 1000


@pytest.fixture(autouse=True)
def topic_id(cluster: Cluster) -> bytes:
    """The id of t, of two partitions."""
    cluster.groups.ensure_topic()
    return cluster.create_topic("t", 2, {}).id


def describe(client: Client, *groups: str, version: int = 1, operations: bool = False) -> list[Any]:
    request = ConsumerGroupDescribeRequest(
        group_ids=list(groups), include_authorized_operations=operations
    )
    found: list[Any] = client.ask(request, version).groups
    return found


@pytest.mark.parametrize("version", first_and_last(ConsumerGroupDescribeRequest))
def test_a_group_is_shown_with_its_member(client: Client, topic_id: bytes, version: int) -> None:
    beat(client, "a", instance_id="i", rack_id="r")
    (group,) = describe(client, "g", version=version)
    assert (group.error_code, group.group_state, group.assignor_name) == (0, "Stable", "uniform")
    assert (group.group_epoch, group.assignment_epoch) == (2, 2)
    (member,) = group.members
    assert (member.member_id, member.instance_id, member.rack_id) == ("a", "i", "r")
    assert (member.member_epoch, member.client_id, member.client_host) == (2, "test", "/127.0.0.1")
    assert (member.subscribed_topic_names, member.subscribed_topic_regex) == (["t"], "")
    for part in (member.assignment, member.target_assignment):
        held = [(t.topic_id, t.topic_name, t.partitions) for t in part.topic_partitions]
        assert held == [(topic_id, "t", [0, 1])]
    assert member.member_type == (CONSUMER if version >= 1 else NOT_TOLD)


def test_what_a_member_has_yet_to_give_up_is_still_its_own(
    cluster: Cluster, client: Client
) -> None:
    beat(client, "a")
    beat(client, "b")
    cluster.advance(ASSIGNMENT_INTERVAL_MS)
    beat(client, "a", 2)
    (group,) = describe(client, "g")
    held = {
        member.member_id: [
            sum(len(t.partitions) for t in part.topic_partitions)
            for part in (member.assignment, member.target_assignment)
        ]
        for member in group.members
    }
    assert held == {"a": [2, 1], "b": [0, 1]}


def test_operations_are_those_of_a_broker_without_an_authorizer(client: Client) -> None:
    beat(client)
    assert describe(client, "g", operations=True)[0].authorized_operations == 3400
    assert describe(client, "g")[0].authorized_operations == NOT_ASKED


def test_what_is_no_consumer_group(client: Client) -> None:
    stable(client)
    found = describe(client, "g", "none", "")
    assert [(each.group_id, Error(each.error_code)) for each in found] == [
        ("g", Error.GROUP_ID_NOT_FOUND),
        ("none", Error.GROUP_ID_NOT_FOUND),
        ("", Error.INVALID_GROUP_ID),
    ]
    assert [each.members for each in found] == [[], [], []]
