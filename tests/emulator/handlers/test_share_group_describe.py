"""ShareGroupDescribe (semantics N3, N6): state and members."""

from __future__ import annotations

from odradek.emulator.cluster import Cluster
from odradek.wire import Error
from odradek.wire.api.share_group_describe import ShareGroupDescribeRequest

from tests.requests.consumer_groups import beat
from tests.requests.share_groups import share_beat
from tests.support.cluster import Client


def test_a_group_and_its_members(cluster: Cluster, client: Client) -> None:
    cluster.groups.ensure_topic()
    topic = cluster.create_topic("t", 2, {})
    share_beat(client, rack_id="r")
    cluster.advance(1000)
    share_beat(client, epoch=2)
    (group,) = client.ask(
        ShareGroupDescribeRequest(group_ids=["g"], include_authorized_operations=True), 1
    ).groups
    assert (group.group_state, group.group_epoch, group.assignment_epoch) == ("Stable", 3, 3)
    assert (group.assignor_name, group.authorized_operations) == ("simple", 3400)
    (member,) = group.members
    assert (member.member_id, member.member_epoch, member.rack_id) == ("a", 3, "r")
    assert (member.client_host, member.subscribed_topic_names) == ("/127.0.0.1", ["t"])
    (held,) = member.assignment.topic_partitions
    assert (held.topic_id, held.topic_name, held.partitions) == (topic.id, "t", [0, 1])
    share_beat(client, epoch=-1)
    (empty,) = client.ask(
        ShareGroupDescribeRequest(group_ids=["g"], include_authorized_operations=False), 1
    ).groups
    assert (empty.group_state, empty.members, empty.group_epoch) == ("Empty", [], 4)


def test_what_is_no_share_group(cluster: Cluster, client: Client) -> None:
    cluster.groups.ensure_topic()
    cluster.create_topic("t", 1, {})
    beat(client, group_id="consumers")
    request = ShareGroupDescribeRequest(
        group_ids=["", "none", "consumers"], include_authorized_operations=False
    )
    found = [(each.error_code, each.error_message) for each in client.ask(request, 1).groups]
    assert found == [
        (Error.INVALID_GROUP_ID, None),
        (Error.GROUP_ID_NOT_FOUND, "Group none not found."),
        (Error.GROUP_ID_NOT_FOUND, "Group consumers is not a share group."),
    ]
