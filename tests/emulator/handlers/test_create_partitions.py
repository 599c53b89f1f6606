"""CreatePartitions, semantics I4."""

from __future__ import annotations

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import Error
from odradek.wire.api.create_partitions import CreatePartitionsRequest

from tests.support.cluster import Client
from tests.support.versions import first_and_last

Topic = CreatePartitionsRequest.Topic
PLACED = "The manual partition assignment includes"


@pytest.fixture(autouse=True)
def _topic(cluster: Cluster) -> None:
    cluster.topics.create("t", partitions=3)


def asked(count: int, assignments: list[list[int]] | None = None, name: str = "t") -> Topic:
    by_hand = None
    if assignments is not None:
        by_hand = [Topic.Assignment(broker_ids=brokers) for brokers in assignments]
    return Topic(name=name, count=count, assignments=by_hand)


def grow(
    client: Client, *topics: Topic, timeout_ms: int = 1000, validate_only: bool = False
) -> list[tuple[str, int, str | None]]:
    request = CreatePartitionsRequest(
        topics=list(topics), timeout_ms=timeout_ms, validate_only=validate_only
    )
    return [(r.name, r.error_code, r.error_message) for r in client.ask(request, 3).results]


@pytest.mark.parametrize(
    ("topic", "error", "message"),
    [
        (asked(3), 37, "Topic already has 3 partition(s)."),
        (asked(2), 37, "The topic t currently has 3 partition(s); 2 would not be an increase."),
        (asked(-1), 37, "The topic t currently has 3 partition(s); -1 would not be an increase."),
        (asked(4, name="x"), 3, None),
        (asked(4, name="a b"), 3, None),
        (
            asked(4, []),
            39,
            "Attempted to add 1 additional partition(s), but only 0 assignment(s) were specified.",
        ),
        (
            asked(4, [[1], []]),
            39,
            "Attempted to add 1 additional partition(s), but only 2 assignment(s) were specified.",
        ),
        (asked(5, [[1], []]), 39, f"{PLACED} an empty replica list."),
        (asked(4, [[1, 9]]), 39, f"{PLACED} broker 9, but no such broker is registered."),
        (asked(4, [[1, 1]]), 39, f"{PLACED} the broker 1 more than once."),
        (asked(10_004), -1, None),
    ],
)
def test_a_topic_that_cannot_grow_is_refused(
    client: Client, cluster: Cluster, topic: Topic, error: int, message: str | None
) -> None:
    assert grow(client, topic) == [(topic.name, error, message)]
    assert len(cluster.topic("t").partitions) == 3


@pytest.mark.parametrize("topic", [asked(5), asked(5, [[1], [1]])])
def test_a_topic_grows(client: Client, cluster: Cluster, topic: Topic) -> None:
    assert grow(client, topic) == [("t", 0, None)]
    assert [p.leader for p in cluster.topic("t").partitions] == [1] * 5


def test_validate_only_changes_nothing(client: Client, cluster: Cluster) -> None:
    assert grow(client, asked(10_003), validate_only=True) == [("t", 0, None)]
    assert len(cluster.topic("t").partitions) == 3


def test_a_topic_named_twice_is_answered_once_and_spares_the_others(
    client: Client, cluster: Cluster
) -> None:
    cluster.topics.create("u")
    assert grow(client, asked(4), asked(2, name="u"), asked(5)) == [
        ("t", Error.INVALID_REQUEST, "Duplicate topic name."),
        ("u", 0, None),
    ]
    assert len(cluster.topic("t").partitions) == 3


def test_ten_thousand_partitions_are_the_most_for_all_topics_together(
    client: Client, cluster: Cluster
) -> None:
    cluster.topics.create("u")
    found = grow(client, asked(9000), asked(9000, name="u"), asked(1, name="x"), validate_only=True)
    assert found == [("t", 0, None), ("u", -1, None), ("x", 3, None)]


def test_without_time_everything_is_refused(client: Client, cluster: Cluster) -> None:
    found = grow(client, asked(4), asked(1, name="x"), timeout_ms=0)
    assert found == [("t", 7, None), ("x", 7, None)]
    assert len(cluster.topic("t").partitions) == 3


@pytest.mark.parametrize("version", first_and_last(CreatePartitionsRequest))
def test_a_topic_grows_in_every_version(client: Client, cluster: Cluster, version: int) -> None:
    request = CreatePartitionsRequest(topics=[asked(5)], timeout_ms=1000, validate_only=False)
    (result,) = client.ask(request, version).results
    assert (result.name, result.error_code, result.error_message) == ("t", 0, None)
    assert len(cluster.topic("t").partitions) == 5


def test_brokers_of_an_assignment_are_judged_in_their_order(client: Client) -> None:
    ((_, code, message),) = grow(client, asked(4, [[1, 2, 1]]))
    assert (code, message) == (39, f"{PLACED} the broker 1 more than once.")


def test_without_time_only_what_needs_no_look_is_refused_by_itself(client: Client) -> None:
    def codes(*names: str) -> list[int]:
        topics = [asked(5, name=name) for name in names]
        return [code for _, code, _ in grow(client, *topics, timeout_ms=0)]

    assert codes("x", "x") == [42]
    assert codes("x", "x", "t") == [7, 7, 7]
