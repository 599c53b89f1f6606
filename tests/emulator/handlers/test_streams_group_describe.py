"""StreamsGroupDescribe (semantics N29, N37): state, topology and members."""

from __future__ import annotations

from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import Error
from odradek.wire.api.delete_groups import DeleteGroupsRequest
from odradek.wire.api.list_groups import ListGroupsRequest
from odradek.wire.api.streams_group_heartbeat import StreamsGroupHeartbeatRequest

from tests.requests.consumer_groups import beat
from tests.requests.streams_groups import (
    LEAVES,
    describe_streams,
    held,
    streams_beat,
    subtopology,
    topic_info,
    topology,
)
from tests.support.cluster import Client, open_cluster


@pytest.fixture
def cluster() -> Any:
    """With t, of two partitions."""
    cluster = open_cluster()
    cluster.groups.ensure_topic()
    cluster.create_topic("t", 2, {})
    yield cluster
    cluster.close()


COUNTING = topology(
    subtopology("0", ["t"], sinks=["r"]),
    subtopology("1", [], repartition=[topic_info("r", retention_ms="-1")], changelogs=["c"]),
)


def test_a_group_its_topology_and_its_members(cluster: Cluster, client: Client) -> None:
    place = StreamsGroupHeartbeatRequest.Endpoint(host="h", port=1)
    streams_beat(client, topology=COUNTING, rack_id="rack")
    (group,) = describe_streams(client, "g")
    assert (group.group_state, group.group_epoch, group.assignment_epoch) == ("NotReady", 2, 2)
    assert [each.partitions for each in group.topology.subtopologies[1].state_changelog_topics] == [
        0
    ]
    cluster.advance(1000)
    streams_beat(client, epoch=2, user_endpoint=place)
    (group,) = describe_streams(client, "g", operations=True)
    assert (group.group_state, group.group_epoch, group.assignment_epoch) == ("Stable", 3, 3)
    assert group.authorized_operations == 3400
    first, second = group.topology.subtopologies
    assert (first.subtopology_id, first.source_topics) == ("0", ["t"])
    assert (first.repartition_sink_topics, second.source_topics) == (["r"], [])
    (topic,) = second.repartition_source_topics
    assert (topic.name, topic.partitions, topic.replication_factor) == ("r", 2, 0)
    assert [(each.key, each.value) for each in topic.topic_configs] == [("retention.ms", "-1")]
    assert [(each.name, each.partitions) for each in second.state_changelog_topics] == [("c", 2)]
    (member,) = group.members
    assert (member.member_id, member.member_epoch, member.topology_epoch) == ("a", 3, 0)
    assert (member.process_id, member.rack_id, member.client_host) == ("a", "rack", "/127.0.0.1")
    assert (member.user_endpoint.host, member.user_endpoint.port) == ("h", 1)
    assert held(member.assignment) == held(member.target_assignment) == {"0": [0, 1], "1": [0, 1]}


def test_states_and_their_filters(cluster: Cluster, client: Client) -> None:
    def listed(**filters: Any) -> list[tuple[str, str, str]]:
        groups = client.ask(ListGroupsRequest(**filters), 5).groups
        return [(each.protocol_type, each.group_state, each.group_type) for each in groups]

    streams_beat(client, topology=topology(subtopology("0", ["none"])))
    found = [("streams", "NotReady", "streams")]
    assert listed(states_filter=["Not_Ready"]) == found == listed(types_filter=["STREAMS"])
    assert listed(states_filter=["notready"]) == []
    deleted = client.ask(DeleteGroupsRequest(groups_names=["g"]), 2).results
    assert [each.error_code for each in deleted] == [Error.NON_EMPTY_GROUP]
    streams_beat(client, epoch=LEAVES)
    assert listed() == [("streams", "Empty", "streams")]
    deleted = client.ask(DeleteGroupsRequest(groups_names=["g"]), 2).results
    assert [each.error_code for each in deleted] == [0]
    assert listed() == []


def test_what_is_no_streams_group(cluster: Cluster, client: Client) -> None:
    beat(client, group_id="consumers")
    found = [
        (each.error_code, each.error_message)
        for each in describe_streams(client, "", "none", "consumers")
    ]
    assert found == [
        (Error.INVALID_GROUP_ID, None),
        (Error.GROUP_ID_NOT_FOUND, "Group none not found."),
        (Error.GROUP_ID_NOT_FOUND, "Group consumers is not a streams group."),
    ]
