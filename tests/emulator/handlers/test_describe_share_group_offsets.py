"""DescribeShareGroupOffsets (semantics N20): start offsets and lags."""

from __future__ import annotations

from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import NO_ID, Error
from odradek.wire.api.describe_share_group_offsets import DescribeShareGroupOffsetsRequest

from tests.requests.produce import batch, produce
from tests.requests.share_groups import ACCEPT, share_acknowledge, share_beat, share_fetch
from tests.support.cluster import Client
from tests.support.versions import first_and_last

Group = DescribeShareGroupOffsetsRequest.Group


def _offsets(client: Client, version: int, topics: dict[str, list[int]] | None) -> Any:
    named = None
    if topics is not None:
        named = [Group.Topic(topic_name=n, partitions=parts) for n, parts in topics.items()]
    request = DescribeShareGroupOffsetsRequest(groups=[Group(group_id="g", topics=named)])
    (group,) = client.ask(request, version).groups
    return [
        (topic.topic_name, part.partition_index, part.start_offset, part.leader_epoch, part.lag)
        for topic in group.topics
        for part in topic.partitions
    ]


@pytest.mark.parametrize("version", first_and_last(DescribeShareGroupOffsetsRequest))
def test_where_a_group_begins(cluster: Cluster, client: Client, version: int) -> None:
    cluster.groups.ensure_topic()
    topic = cluster.create_topic("t", 2, {})
    assert _offsets(client, version, None) == [], "a missing group has none"
    share_beat(client)
    nothing = [("t", 0, -1, 0, -1), ("t", 1, -1, 0, -1)]
    assert _offsets(client, version, None) == nothing
    share_fetch(client, {(topic.id, 0): ()})
    produce(client, batch(*[b"v"] * 6))
    share_fetch(client, epoch=1)
    share_acknowledge(client, {(topic.id, 0): [(0, 1, [ACCEPT]), (4, 4, [ACCEPT])]}, 2)
    share_acknowledge(client, {(topic.id, 0): [(5, 5, [ACCEPT])]}, 3)
    lag = 2 if version >= 1 else -1
    assert _offsets(client, version, None) == [("t", 0, 2, 0, lag), ("t", 1, -1, 0, -1)]
    assert _offsets(client, version, {"none": [3], "t": [1]}) == [
        ("t", 1, -1, 0, -1),
        ("none", 3, -1, 0, -1),
    ]
    assert _offsets(client, version, {}) == []


def test_a_missing_topic_has_no_id(cluster: Cluster, client: Client) -> None:
    cluster.groups.ensure_topic()
    topics = [Group.Topic(topic_name="none", partitions=[0])]
    request = DescribeShareGroupOffsetsRequest(groups=[Group(group_id="g", topics=topics)])
    (group,) = client.ask(request, 1).groups
    assert group.topics[0].topic_id == NO_ID


@pytest.mark.parametrize(
    ("group_id", "topics", "code"),
    [
        ("g", {"t": []}, Error.UNKNOWN_SERVER_ERROR),
        ("g", {"t": [0], "u": []}, Error.UNKNOWN_SERVER_ERROR),
        ("", {"t": [0]}, Error.UNKNOWN_SERVER_ERROR),
        ("g", {"t": [0, -1]}, Error.UNKNOWN_SERVER_ERROR),
        ("g", {"none": []}, 0),
        ("", {"none": [0]}, 0),
        ("", {}, 0),
    ],
)
def test_what_the_coordinator_of_states_cannot_be_asked(
    cluster: Cluster, client: Client, group_id: str, topics: dict[str, list[int]], code: int
) -> None:
    cluster.groups.ensure_topic()
    cluster.create_topic("t", 1, {})
    cluster.create_topic("u", 1, {})
    named = [Group.Topic(topic_name=n, partitions=parts) for n, parts in topics.items()]
    request = DescribeShareGroupOffsetsRequest(groups=[Group(group_id=group_id, topics=named)])
    (group,) = client.ask(request, 1).groups
    assert group.error_code == code
    assert [each.topic_name for each in group.topics] == ([] if code else list(topics))
    assert ("unexpected error" in (group.error_message or "")) == bool(code)


def test_a_broker_that_does_not_coordinate_says_so(client: Client) -> None:
    request = DescribeShareGroupOffsetsRequest(groups=[Group(group_id="g", topics=None)])
    (group,) = client.ask(request, 1).groups
    assert group.error_code == Error.NOT_COORDINATOR
    assert group.error_message == "This is not the correct coordinator."


def test_what_exists_is_answered_once(cluster: Cluster, client: Client) -> None:
    cluster.groups.ensure_topic()
    cluster.create_topic("t", 3, {})
    found = [
        (name, index) for name, index, *_ in _offsets(client, 1, {"t": [2, 0, 2], "n": [1, 1]})
    ]
    assert found == [("t", 0), ("t", 2), ("n", 1), ("n", 1)]
