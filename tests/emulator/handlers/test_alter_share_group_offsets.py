"""AlterShareGroupOffsets (semantics N21, N22): setting where a group begins."""

from __future__ import annotations

from typing import Any

from odradek.emulator.cluster import Cluster
from odradek.emulator.share.state import SharePartitionKey
from odradek.wire import Error
from odradek.wire.api.alter_share_group_offsets import AlterShareGroupOffsetsRequest

from tests.requests.consumer_groups import beat
from tests.requests.produce import batch, produce
from tests.requests.share_groups import LEAVES, acquired, share_beat, share_fetch
from tests.support.cluster import Client

Topic = AlterShareGroupOffsetsRequest.Topic


def alter(client: Client, group: str, offsets: dict[tuple[str, int], int]) -> Any:
    """The answer to setting these offsets."""
    topics = [
        Topic(
            topic_name=name,
            partitions=[Topic.Partition(partition_index=index, start_offset=offset)],
        )
        for (name, index), offset in offsets.items()
    ]
    return client.ask(AlterShareGroupOffsetsRequest(group_id=group, topics=topics), 0)


def test_a_missing_group_is_created(cluster: Cluster, client: Client) -> None:
    cluster.groups.ensure_topic()
    topic = cluster.create_topic("t", 1, {})
    produce(client, batch(*[b"v"] * 5))
    answer = alter(client, "g", {("t", 0): 3, ("none", 0): 0})
    found = [
        (each.topic_name, part.partition_index, part.error_code)
        for each in answer.responses
        for part in each.partitions
    ]
    assert found == [("none", 0, Error.UNKNOWN_TOPIC_OR_PARTITION), ("t", 0, 0)]
    group = cluster.groups.at(1).share.group("g")
    assert (group.state, group.epoch) == ("Empty", 1)
    assert acquired(share_fetch(client, {(topic.id, 0): ()})) == [(3, 4, 1)]


def test_who_may_not(cluster: Cluster, client: Client) -> None:
    cluster.groups.ensure_topic()
    cluster.create_topic("t", 1, {})
    beat(client, group_id="consumers")
    share_beat(client)
    assert alter(client, "", {}).error_code == Error.INVALID_GROUP_ID
    assert alter(client, "g", {("t", 0): 1}).error_code == Error.NON_EMPTY_GROUP
    assert alter(client, "consumers", {("t", 0): 1}).error_code == Error.GROUP_ID_NOT_FOUND
    share_beat(client, epoch=LEAVES)
    assert alter(client, "g", {("t", 0): 1}).error_code == 0
    for place in (("t", 7), ("none", -1)):
        (topic,) = alter(client, "g", {place: 1}).responses
        assert topic.partitions[0].error_code == Error.UNKNOWN_TOPIC_OR_PARTITION


def test_unknown_topics_come_first_and_only_with_partitions(
    cluster: Cluster, client: Client
) -> None:
    cluster.groups.ensure_topic()
    cluster.create_topic("t", 1, {})
    part = Topic.Partition(partition_index=0, start_offset=0)
    asked = {"t": [], "none": [], "nope": [part]}
    topics = [Topic(topic_name=name, partitions=parts) for name, parts in asked.items()]
    answer = client.ask(AlterShareGroupOffsetsRequest(group_id="g", topics=topics), 0)
    assert [(each.topic_name, len(each.partitions)) for each in answer.responses] == [
        ("nope", 1),
        ("t", 0),
    ]


def test_a_topic_named_twice_is_answered_once(cluster: Cluster, client: Client) -> None:
    cluster.groups.ensure_topic()
    for name in ("t", "u"):
        cluster.create_topic(name, 2, {})
    asked = [("t", 0), ("u", 0), ("t", 7), ("none", 0), ("t", 0), ("none", 0)]
    topics = [
        Topic(
            topic_name=name,
            partitions=[Topic.Partition(partition_index=index, start_offset=offset)],
        )
        for offset, (name, index) in enumerate(asked)
    ]
    answer = client.ask(AlterShareGroupOffsetsRequest(group_id="g", topics=topics), 0)
    unknown = Error.UNKNOWN_TOPIC_OR_PARTITION
    assert [
        (each.topic_name, [(part.partition_index, part.error_code) for part in each.partitions])
        for each in answer.responses
    ] == [
        ("none", [(0, unknown), (0, unknown)]),
        ("t", [(0, 0), (7, unknown), (0, 0)]),
        ("u", [(0, 0)]),
    ]
    topic = cluster.topic("t")
    assert cluster.share_coordinators.summary(SharePartitionKey("g", topic.id, 0)).start_offset == 4
