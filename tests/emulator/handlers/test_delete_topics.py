"""DeleteTopics, semantics I3: by name, by id, twice, and when it is not allowed."""

from __future__ import annotations

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import NO_ID, Error
from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.fetch import FetchRequest

from tests.support.cluster import Client, client_of, open_cluster
from tests.support.versions import first_and_last

UNKNOWN = bytes(range(16))
NO_TOPIC = (3, "This server does not host this topic-partition.")
NO_TOPIC_ID = (100, "This server does not host this topic ID.")
NAME_TWICE = (42, "Duplicate topic name.")
ID_TWICE = (42, "Duplicate topic id.")
BOTH_ENTRIES = (42, "The provided topic name maps to an ID that was already supplied.")
BOTH = (42, "You may not specify both topic name and topic id.")
NEITHER = (42, "Neither topic name nor id were specified.")


@pytest.fixture(autouse=True)
def ids(cluster: Cluster) -> dict[bytes, str]:
    """The ids of the topics t and u, to their names."""
    return {cluster.topics.create(name).id: name for name in ("t", "u")}


def delete(
    client: Client, *topics: tuple[str | None, bytes], timeout_ms: int = 1000
) -> list[tuple[str | None, bytes, int, str | None]]:
    request = DeleteTopicsRequest(
        topics=[DeleteTopicsRequest.Topic(name=name, topic_id=id_) for name, id_ in topics],
        timeout_ms=timeout_ms,
    )
    answer = client.ask(request, 6)
    return [(r.name, r.topic_id, r.error_code, r.error_message) for r in answer.responses]


@pytest.mark.parametrize(
    ("topics", "answers", "left"),
    [
        ([("t", 0)], [("t", "t", 0, None)], "u"),
        ([(None, "t")], [("t", "t", 0, None)], "u"),
        ([("t", 0), (None, "u")], [("t", "t", 0, None), ("u", "u", 0, None)], ""),
        ([("x", 0)], [("x", 0, *NO_TOPIC)], "tu"),
        ([("a b", 0), ("", 0)], [("a b", 0, *NO_TOPIC), ("", 0, *NO_TOPIC)], "tu"),
        ([(None, UNKNOWN)], [(None, UNKNOWN, *NO_TOPIC_ID)], "tu"),
        ([("t", 0), ("t", 0)], [("t", 0, *NAME_TWICE)], "tu"),
        ([("x", 0), ("x", 0)], [("x", 0, *NAME_TWICE)], "tu"),
        ([(None, "t"), (None, "t")], [(None, "t", *ID_TWICE)], "tu"),
        ([(None, UNKNOWN), (None, UNKNOWN)], [(None, UNKNOWN, *ID_TWICE)], "tu"),
        ([("t", 0), (None, "t")], [("t", "t", *BOTH_ENTRIES)], "tu"),
        ([(None, "t"), ("t", 0)], [("t", "t", *BOTH_ENTRIES)], "tu"),
        ([("t", "t")], [("t", "t", *BOTH)], "tu"),
        ([("t", "t"), ("t", "t")], [("t", "t", *BOTH), ("t", "t", *BOTH)], "tu"),
        ([("t", "t"), ("t", 0)], [("t", "t", *BOTH), ("t", "t", 0, None)], "u"),
        ([(None, 0)], [(None, 0, *NEITHER)], "tu"),
        ([("t", 0), ("u", 0), ("u", 0)], [("t", "t", 0, None), ("u", 0, *NAME_TWICE)], "u"),
    ],
)
def test_each_topic_is_answered(
    client: Client,
    cluster: Cluster,
    ids: dict[bytes, str],
    topics: list[tuple[str | None, str | int | bytes]],
    answers: list[tuple[object, ...]],
    left: str,
) -> None:
    by_name: dict[object, bytes] = {name: id_ for id_, name in ids.items()} | {
        0: NO_ID,
        UNKNOWN: UNKNOWN,
    }
    found = delete(client, *((name, by_name[id_]) for name, id_ in topics))

    assert found == [(name, by_name[id_], *rest) for name, id_, *rest in answers]
    assert "".join(topic.name for topic in cluster.topics) == left


def test_before_v6_topics_are_named(client: Client, cluster: Cluster) -> None:
    request = DeleteTopicsRequest(topic_names=["t", "x", "u", "u"], timeout_ms=1)
    answer = client.ask(request, 5)
    assert [(r.name, r.error_code, r.error_message) for r in answer.responses] == [
        ("t", 0, None),
        ("x", *NO_TOPIC),
        ("u", *NAME_TWICE),
    ]
    assert [topic.name for topic in cluster.topics] == ["u"]


@pytest.mark.parametrize("timeout_ms", [0, -1])
def test_without_time_everything_is_refused(
    client: Client, cluster: Cluster, timeout_ms: int
) -> None:
    answers = delete(client, ("t", NO_ID), ("t", NO_ID), ("x", NO_ID), timeout_ms=timeout_ms)
    assert answers == [
        ("t", NO_ID, Error.REQUEST_TIMED_OUT, None),
        ("t", NO_ID, Error.REQUEST_TIMED_OUT, None),
        ("x", NO_ID, Error.REQUEST_TIMED_OUT, None),
    ]
    assert len(cluster.topics) == 2


@pytest.mark.parametrize(("version", "error"), [(2, 42), (3, 73), (6, 73)])
def test_where_deletion_is_disabled_every_entry_is_refused_in_order(
    version: int, error: int
) -> None:
    cluster = open_cluster(delete_topic_enable="false")
    cluster.topics.create("t")
    request = DeleteTopicsRequest(
        topics=[DeleteTopicsRequest.Topic(name=name, topic_id=NO_ID) for name in "tat"],
        topic_names=["t", "a", "t"],
        timeout_ms=0,
    )
    answer = client_of(cluster).ask(request, version)
    assert [(r.name, r.error_code) for r in answer.responses] == [
        ("t", error),
        ("a", error),
        ("t", error),
    ]
    assert len(cluster.topics) == 1
    cluster.close()


def test_a_fetch_that_waits_for_the_topic_is_answered(client: Client, cluster: Cluster) -> None:
    partition = FetchRequest.Topic.Partition(partition=0, fetch_offset=0, partition_max_bytes=1000)
    fetch = FetchRequest(
        max_wait_ms=10_000,
        min_bytes=1,
        max_bytes=1000,
        topics=[FetchRequest.Topic(topic="t", partitions=[partition])],
        forgotten_topics_data=[],
    )
    client.send(fetch, 11)
    assert client.answers() == []

    delete(client_of(cluster), ("t", NO_ID))

    (answer,) = client.answers()
    (found,) = answer.responses[0].partitions
    assert found.error_code == Error.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize("version", [*first_and_last(DeleteTopicsRequest), 5])
def test_a_topic_is_deleted_in_every_version(
    client: Client, cluster: Cluster, version: int
) -> None:
    topic_id = cluster.topic("t").id
    request = DeleteTopicsRequest(
        topics=[DeleteTopicsRequest.Topic(name="t", topic_id=NO_ID)],
        topic_names=["t"],
        timeout_ms=1000,
    )
    (answer,) = client.ask(request, version).responses
    assert (answer.name, answer.error_code) == ("t", 0)
    assert answer.topic_id == (topic_id if version >= 6 else NO_ID)
    assert cluster.topics.get("t") is None


def test_without_time_only_what_needs_no_look_is_refused_by_itself(client: Client) -> None:
    def codes(*names: str | None) -> list[int]:
        topics = [(name, NO_ID) for name in names]
        return [code for _, _, code, _ in delete(client, *topics, timeout_ms=0)]

    assert codes("x", "x") == [42]
    assert codes("x", "x", "t") == [7, 7, 7]
    assert codes(None) == [42]
