"""Metadata, semantics I2: who is answered in which version, by name and by id, and what is made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import NO_ID
from odradek.wire.api.metadata import MetadataRequest, MetadataResponse

from tests.support.cluster import Client, client_of, open_cluster
from tests.support.versions import first_and_last

X, Y = bytes(range(16)), bytes(range(1, 17))
NOT_ASKED = -(2**31)
NEWEST = 13


@pytest.fixture(autouse=True)
def ids(cluster: Cluster) -> dict[str, bytes]:
    """The ids of the topics t (3 partitions) and u, by name."""
    return {
        "t": cluster.topics.create("t", partitions=3).id,
        "u": cluster.topics.create("u").id,
    }


def ask(
    client: Client,
    topics: Sequence[tuple[str | None, bytes] | str] | None,
    version: int = NEWEST,
    **more: Any,
) -> MetadataResponse:
    entries: list[MetadataRequest.Topic] | None = None
    if topics is not None:
        pairs = [(t, NO_ID) if isinstance(t, str) else t for t in topics]
        entries = [MetadataRequest.Topic(name=name, topic_id=id_) for name, id_ in pairs]
    answer: MetadataResponse = client.ask(MetadataRequest(topics=entries, **more), version)
    return answer


def outcome(answer: MetadataResponse) -> list[tuple[str | None, int]]:
    return [(topic.name, topic.error_code) for topic in answer.topics]


# What is told of a topic


@pytest.mark.parametrize("version", range(NEWEST + 1))
def test_a_topic_is_described_in_every_version(
    client: Client, ids: dict[str, bytes], version: int
) -> None:
    (topic,) = ask(client, ["t"], version).topics

    assert (topic.error_code, topic.name, topic.is_internal) == (0, "t", False)
    assert topic.topic_id == (ids["t"] if version >= 10 else NO_ID)
    assert [
        (p.error_code, p.partition_index, p.leader_id, p.leader_epoch, p.replica_nodes, p.isr_nodes)
        for p in topic.partitions
    ] == [(0, index, 1, 0 if version >= 7 else -1, [1], [1]) for index in range(3)]


def test_the_brokers_and_the_cluster_are_reported(client: Client, cluster: Cluster) -> None:
    answer = ask(client, [])
    assert answer.brokers == [
        MetadataResponse.Broker(node_id=1, host="localhost", port=9092, rack=None)
    ]
    assert answer.cluster_id == cluster.cluster_id
    assert (answer.controller_id, answer.error_code) == (1, 0)


def test_an_internal_topic_is_said_to_be_one(client: Client, cluster: Cluster) -> None:
    cluster.topics.ensure_internal("__consumer_offsets")
    cluster.topics.create("__x")
    assert [t.is_internal for t in ask(client, ["__consumer_offsets", "__x"]).topics] == [
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("version", "flags", "cluster_operations", "topic_operations"),
    [
        (7, {}, NOT_ASKED, NOT_ASKED),
        (8, {"include_cluster_authorized_operations": True}, 8096, NOT_ASKED),
        (10, {"include_topic_authorized_operations": True}, NOT_ASKED, 3576),
        (12, {"include_topic_authorized_operations": True}, NOT_ASKED, 3576),
    ],
)
def test_operations_are_reported_when_asked_for(
    client: Client,
    version: int,
    flags: dict[str, bool],
    cluster_operations: int,
    topic_operations: int,
) -> None:
    more = {"allow_auto_topic_creation": False} | flags
    if version < 8:
        more = {}
    answer = ask(client, ["t", "u"], version, **more)
    assert answer.cluster_authorized_operations == cluster_operations
    assert {t.topic_authorized_operations for t in answer.topics} == {topic_operations}


def test_operations_are_answered_for_missing_topics_but_not_for_missing_ids(client: Client) -> None:
    flags = {"include_topic_authorized_operations": True, "allow_auto_topic_creation": False}
    by_name = ask(client, ["a b", "x"], 12, **flags)
    assert [t.topic_authorized_operations for t in by_name.topics] == [3576, 3576]
    by_id = ask(client, [(None, X)], 12, **flags)
    assert [t.topic_authorized_operations for t in by_id.topics] == [NOT_ASKED]


# Which topics are answered


@pytest.mark.parametrize(
    ("version", "topics", "names"),
    [
        (0, [], ["t", "u"]),
        (1, [], []),
        (1, None, ["t", "u"]),
        (12, [], []),
        (12, None, ["t", "u"]),
        (12, ["u", "t", "u"], ["u", "t"]),
    ],
)
def test_null_or_in_v0_an_empty_list_means_all(
    client: Client, version: int, topics: list[str] | None, names: list[str]
) -> None:
    assert [topic.name for topic in ask(client, topics, version).topics] == names


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        (["x", "t", "a b", "u"], [("t", 0), ("u", 0), ("x", 3), ("a b", 17)]),
        (["", ".", "é"], [("", 17), (".", 17), ("é", 17)]),
        (["__consumer_offsets"], [("__consumer_offsets", 3)]),
    ],
)
def test_missing_topics_come_last_and_are_not_made_if_that_is_not_asked(
    client: Client, cluster: Cluster, asked: list[str], answered: list[tuple[str, int]]
) -> None:
    answer = ask(client, asked, allow_auto_topic_creation=False)
    assert outcome(answer) == answered
    assert [topic.name for topic in cluster.topics] == ["t", "u"]


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ([(None, "t")], [("t", 0)]),
        ([("u", "t")], [("t", 0)]),
        ([(None, X)], [(None, 100)]),
        ([("t", X)], [(None, 100)]),
        ([("u", NO_ID), (None, "t")], [("t", 0)]),
        ([(None, NO_ID), (None, "t")], [("t", 0)]),
        ([(None, "t"), (None, "t")], [("t", 0)]),
        (
            [(None, X), (None, "u"), (None, "t"), (None, Y)],
            [(None, 100)] * 2 + [("u", 0), ("t", 0)],
        ),
    ],
)
@pytest.mark.parametrize("version", [12, 13])
def test_from_v12_on_an_id_counts_more_than_names(
    client: Client,
    ids: dict[str, bytes],
    version: int,
    asked: list[tuple[str | None, str | bytes]],
    answered: list[tuple[str | None, int]],
) -> None:
    entries = [(name, ids[id_] if isinstance(id_, str) else id_) for name, id_ in asked]
    assert outcome(ask(client, entries, version)) == answered


def test_an_unknown_id_is_repeated(client: Client) -> None:
    assert [topic.topic_id for topic in ask(client, [(None, X), (None, Y)]).topics] == [X, Y]


@pytest.mark.parametrize("version", [10, 11])
@pytest.mark.parametrize(
    "asked", [[("t", "t"), ("u", NO_ID)], [(None, NO_ID)], [(None, "t")]], ids=len
)
def test_ids_in_v10_and_v11_spoil_the_request(
    client: Client,
    ids: dict[str, bytes],
    version: int,
    asked: list[tuple[str | None, str | bytes]],
) -> None:
    entries = [(name, ids[id_] if isinstance(id_, str) else id_) for name, id_ in asked]
    answer = ask(client, entries, version)

    assert [(t.name, t.topic_id, t.error_code) for t in answer.topics] == [
        (name or "", id_, 42) for name, id_ in entries
    ]
    assert (answer.brokers, answer.controller_id) == ([], -1)


def test_neither_name_nor_id_spoils_the_request(client: Client) -> None:
    answer = ask(client, [(None, NO_ID), ("t", NO_ID)])
    assert outcome(answer) == [("", -1), ("t", -1)]
    assert (answer.error_code, answer.brokers) == (-1, [])


# Creation on demand


@pytest.mark.parametrize("version", [0, 3, 4, NEWEST])
def test_a_missing_topic_is_made_and_there_at_the_second_look(
    client: Client, cluster: Cluster, version: int
) -> None:
    first = ask(client, ["new", "t"], version)
    assert outcome(first) == [("t", 0), ("new", 3)]
    assert (first.topics[1].partitions, first.topics[1].topic_id) == ([], NO_ID)

    (topic,) = ask(client, ["new"], version).topics
    assert (topic.error_code, len(topic.partitions)) == (0, 1)
    assert cluster.topic("new").id != NO_ID


def test_a_topic_made_on_demand_has_the_brokers_number_of_partitions() -> None:
    cluster = open_cluster(num_partitions="4")
    ask(client_of(cluster), ["new"])
    assert len(cluster.topic("new").partitions) == 4
    cluster.close()


def test_internal_topics_are_made_with_their_own_configs(client: Client, cluster: Cluster) -> None:
    (topic,) = ask(client, ["__consumer_offsets"]).topics
    assert (topic.error_code, topic.is_internal) == (3, True)
    assert cluster.topic("__consumer_offsets").config.is_compacted


@pytest.mark.parametrize("name", ["colliding_name", "__cluster_metadata", "a b"])
def test_what_cannot_be_made_stays_missing(client: Client, cluster: Cluster, name: str) -> None:
    cluster.topics.create("colliding.name")
    first, second = ask(client, [name]), ask(client, [name])
    assert outcome(first) == outcome(second) == [(name, 17 if name == "a b" else 3)]
    assert cluster.topics.get(name) is None


def test_too_few_brokers_leave_a_topic_missing() -> None:
    cluster = open_cluster(default_replication_factor="3")
    ask(client_of(cluster), ["new"])
    assert cluster.topics.get("new") is None
    cluster.close()


def test_a_broker_can_forbid_it() -> None:
    cluster = open_cluster(auto_create_topics_enable="false")
    client = client_of(cluster)
    assert outcome(ask(client, ["new"])) == outcome(ask(client, ["new"])) == [("new", 3)]
    assert cluster.topics.get("new") is None
    cluster.close()


# Brokers that are not alive


@pytest.fixture
def three() -> Iterator[Cluster]:
    """Brokers 1 to 3 with a topic that each of them leads one partition of; 2 is not alive."""
    cluster = open_cluster(nodes=(1, 2, 3))
    cluster.topics.create("t", partitions=3, replication_factor=2)
    cluster.nodes[2].is_alive = False
    yield cluster
    cluster.close()


def test_a_broker_that_is_not_alive_is_left_out_and_its_partitions_have_no_leader(
    three: Cluster,
) -> None:
    answer = ask(client_of(three), ["t"])

    assert [broker.node_id for broker in answer.brokers] == [1, 3]
    assert [
        (p.error_code, p.leader_id, p.replica_nodes, p.offline_replicas)
        for p in answer.topics[0].partitions
    ] == [(0, 1, [1, 2], [2]), (5, -1, [2, 3], [2]), (0, 3, [3, 1], [])]


def test_version_0_lists_only_replicas_that_are_alive(three: Cluster) -> None:
    assert [
        (p.error_code, p.leader_id, p.replica_nodes, p.isr_nodes)
        for p in ask(client_of(three), ["t"], 0).topics[0].partitions
    ] == [
        (9, 1, [1], [1]),  # REPLICA_NOT_AVAILABLE
        (5, -1, [3], [3]),
        (0, 3, [3, 1], [3, 1]),
    ]


@pytest.mark.parametrize("version", first_and_last(MetadataRequest))
def test_the_brokers_are_reported_in_every_version(client: Client, version: int) -> None:
    answer = ask(client, ["t"], version)
    assert [(each.node_id, each.host, each.port) for each in answer.brokers] == [
        (1, "localhost", 9092)
    ]
    assert answer.controller_id == (1 if version >= 1 else -1)
