"""DescribeTopicPartitions, semantics I12: pages, cursors, and what is missing."""

from __future__ import annotations

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire.api.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
)

from tests.support.cluster import Client

Page = tuple[list[tuple[str | None, int, list[int]]], tuple[str, int] | None]
ALL = 3576
NOT_ASKED = -(2**31)


@pytest.fixture(autouse=True)
def _topics(cluster: Cluster) -> None:
    """b with 5 partitions, d with 3."""
    cluster.topics.create("d", partitions=3)
    cluster.topics.create("b", partitions=5)


def ask(
    client: Client, names: list[str], limit: int = 2000, cursor: tuple[str, int] | None = None
) -> DescribeTopicPartitionsResponse:
    request = DescribeTopicPartitionsRequest(
        topics=[DescribeTopicPartitionsRequest.Topic(name=name) for name in names],
        response_partition_limit=limit,
        cursor=cursor
        and DescribeTopicPartitionsRequest.Cursor(topic_name=cursor[0], partition_index=cursor[1]),
    )
    answer: DescribeTopicPartitionsResponse = client.ask(request, 0)
    return answer


def page(answer: DescribeTopicPartitionsResponse) -> Page:
    end = answer.next_cursor
    return (
        [(t.name, t.error_code, [p.partition_index for p in t.partitions]) for t in answer.topics],
        None if end is None else (end.topic_name, end.partition_index),
    )


B, D = ("b", 0, [0, 1, 2, 3, 4]), ("d", 0, [0, 1, 2])


@pytest.mark.parametrize(
    ("names", "limit", "cursor", "found"),
    [
        ([], 2000, None, ([B, D], None)),
        (["d", "b", "d"], 2000, None, ([B, D], None)),
        (["d"], 3, None, ([D], None)),
        (["d", "b"], 2, None, ([("b", 0, [0, 1])], ("b", 2))),
        (["d", "b"], 0, None, ([("b", 0, [0])], ("b", 1))),
        (["d", "b"], -1, None, ([("b", 0, [0])], ("b", 1))),
        (["d", "b"], 5, None, ([B], ("d", 0))),
        (["d", "b"], 7, None, ([B, ("d", 0, [0, 1])], ("d", 2))),
        (["d", "b"], 8, None, ([B, D], None)),
        (["d", "b"], 3, ("b", 3), ([("b", 0, [3, 4]), ("d", 0, [0])], ("d", 1))),
        (["d", "b"], 3, ("b", 5), ([("b", 0, []), D], None)),
        (["b"], 3, ("b", 9), ([("b", 0, [])], None)),
        ([], 1, ("b", 1), ([("b", 0, [1])], ("b", 2))),
        ([], 9, ("c", 2), ([D], None)),
        ([], 9, ("z", 0), ([], None)),
        (["x", "a b", "d"], 1, None, ([("a b", 17, []), ("d", 0, [0])], ("d", 1))),
        (["d", "c"], 3, ("c", 1), ([("c", 3, []), D], None)),
        (["b", "c"], 5, None, ([B], ("c", 0))),
        (["d", "b"], 3, ("b", -1), ([("d", 42, []), ("b", 42, [])], None)),
        (["d", "b"], 3, ("c", 0), ([("d", 42, []), ("b", 42, [])], None)),
        (["d"], 3, ("b", 1), ([("d", 42, [])], None)),
        ([], 3, ("b", -1), ([], None)),
        (["d", "", "d"], 3, None, ([("d", -1, []), ("", -1, []), ("d", -1, [])], None)),
    ],
)
def test_a_page_begins_at_the_cursor_and_ends_at_the_limit(
    client: Client, names: list[str], limit: int, cursor: tuple[str, int] | None, found: Page
) -> None:
    assert page(ask(client, names, limit, cursor)) == found


def test_pages_lead_from_one_to_the_next_until_everything_was_seen(client: Client) -> None:
    seen: list[tuple[str | None, int]] = []
    cursor: tuple[str, int] | None = None
    while True:
        topics, cursor = page(ask(client, [], 2, cursor))
        seen += [(name, index) for name, _, indexes in topics for index in indexes]
        if cursor is None:
            break
    assert seen == [("b", index) for index in range(5)] + [("d", index) for index in range(3)]


def test_a_page_has_two_thousand_partitions_at_most(client: Client, cluster: Cluster) -> None:
    cluster.topics.create("large", partitions=2001)
    topics, cursor = page(ask(client, ["large"], 5000))
    assert len(topics[0][2]) == 2000
    assert cursor == ("large", 2000)


def test_a_topic_is_described(client: Client, cluster: Cluster) -> None:
    (topic,) = ask(client, ["d"], 1).topics
    assert topic.topic_id == cluster.topic("d").id
    assert (topic.is_internal, topic.topic_authorized_operations) == (False, ALL)
    (partition,) = topic.partitions
    assert (partition.leader_id, partition.leader_epoch) == (1, 0)
    assert (partition.replica_nodes, partition.isr_nodes) == ([1], [1])
    assert (partition.eligible_leader_replicas, partition.last_known_elr) == ([], [])
    assert partition.offline_replicas == []


@pytest.mark.parametrize(
    ("names", "cursor", "operations"),
    [
        (["x"], None, ALL),
        (["a b"], None, ALL),
        ([""], None, NOT_ASKED),
        (["d"], ("b", 0), NOT_ASKED),
    ],
)
def test_operations_are_reported_unless_the_request_is_spoilt(
    client: Client, names: list[str], cursor: tuple[str, int] | None, operations: int
) -> None:
    (topic,) = ask(client, names, cursor=cursor).topics
    assert topic.topic_authorized_operations == operations


def test_a_page_leaves_out_bad_names_before_its_cursor(client: Client) -> None:
    topic = DescribeTopicPartitionsRequest.Topic
    cursor = DescribeTopicPartitionsRequest.Cursor(topic_name="t", partition_index=0)
    names = [topic(name=name) for name in ("", "a b", "t")]
    answer = client.ask(DescribeTopicPartitionsRequest(topics=names, cursor=cursor), 0)
    assert [topic.name for topic in answer.topics] == ["t"]


def test_an_empty_name_is_an_error_of_the_whole_only_without_a_cursor(client: Client) -> None:
    topics = [DescribeTopicPartitionsRequest.Topic(name="")]
    cursor = DescribeTopicPartitionsRequest.Cursor(topic_name="", partition_index=0)
    whole = client.ask(DescribeTopicPartitionsRequest(topics=topics), 0)
    single = client.ask(DescribeTopicPartitionsRequest(topics=topics, cursor=cursor), 0)
    assert [a.topics[0].error_code for a in (whole, single)] == [-1, 17]
