"""DescribeShareGroupOffsets (semantics N20): start offsets and lags."""

from __future__ import annotations

from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import NO_ID
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
