"""OffsetFetch (semantics F8, F9): one group before v8, several since; nothing is no error."""

from __future__ import annotations

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import Error
from odradek.wire.api.offset_fetch import OffsetFetchRequest

from tests.requests.committed_offsets import commit, committed, offset_fetch_request
from tests.requests.transactions import txn_commit_request
from tests.support.cluster import Client
from tests.support.transactional_producer import TxnClient
from tests.support.versions import first_and_last

Group = OffsetFetchRequest.Group
VERSIONS = range(first_and_last(OffsetFetchRequest)[0], first_and_last(OffsetFetchRequest)[1] + 1)


@pytest.fixture(autouse=True)
def _topics(cluster: Cluster) -> None:
    cluster.create_topic("t", 2, {})
    cluster.groups.ensure_topic()


@pytest.mark.parametrize("version", VERSIONS)
def test_what_was_committed_is_reported_in_every_version(
    cluster: Cluster, client: Client, version: int
) -> None:
    topic_id = cluster.topic("t").id
    assert commit(client, 42, metadata="here") is Error.NONE
    found = committed(client, version=version, topic_id=topic_id)
    assert (found.committed_offset, found.metadata, found.error_code) == (42, "here", 0)
    for nothing in (
        committed(client, version=version, topic_id=topic_id, group="none"),
        committed(client, version=version, topic_id=topic_id, partition=1),
        committed(client, version=version, topic_id=topic_id, partition=9),
    ):
        assert (nothing.committed_offset, nothing.metadata, nothing.error_code) == (-1, "", 0)
        assert nothing.committed_leader_epoch == -1


def test_null_topics_are_all_and_none_are_none(client: Client) -> None:
    assert commit(client, 5) is Error.NONE
    for version in (2, 7):
        old = client.ask(OffsetFetchRequest(group_id="g", topics=None), version)
        assert [(t.name, [p.committed_offset for p in t.partitions]) for t in old.topics] == [
            ("t", [5])
        ]
        assert client.ask(OffsetFetchRequest(group_id="g", topics=[]), version).topics == []
    asked = [Group(group_id=name, topics=None) for name in ("g", "none")]
    new = client.ask(OffsetFetchRequest(groups=[*asked, Group(group_id="g", topics=[])]), 9)
    assert [(g.group_id, len(g.topics)) for g in new.groups] == [("g", 1), ("none", 0), ("g", 0)]


def test_an_unknown_topic_id_is_an_error_and_comes_last(cluster: Cluster, client: Client) -> None:
    known, unknown = cluster.topic("t").id, b"x" * 16
    topics = [Group.Topic(topic_id=each, partition_indexes=[0]) for each in (unknown, known)]
    answer = client.ask(OffsetFetchRequest(groups=[Group(group_id="g", topics=topics)]), 10)
    assert [(t.topic_id, t.partitions[0].error_code) for t in answer.groups[0].topics] == [
        (known, 0),
        (unknown, Error.UNKNOWN_TOPIC_ID),
    ]


def test_order_and_repetitions_are_those_of_the_request(client: Client) -> None:
    Old = OffsetFetchRequest.Topic
    topics = [Old(name="u", partition_indexes=[1, 0, 1]), Old(name="t", partition_indexes=[])]
    answer = client.ask(OffsetFetchRequest(group_id="g", topics=topics), 5)
    found = [(t.name, [p.partition_index for p in t.partitions]) for t in answer.topics]
    assert found == [("u", [1, 0, 1]), ("t", [])]


@pytest.mark.parametrize("version", [8, 10])
def test_more_partitions_than_a_slice_has_are_answered_in_their_order(
    cluster: Cluster, client: Client, version: int
) -> None:
    assert commit(client, 5) is Error.NONE
    kind, topic_id = Group.Topic, cluster.topic("t").id
    asked = [*range(1, 250), 0], [0], [*range(1, 100)], [0, *range(1, 150)]
    topics = [kind(name="t", topic_id=topic_id, partition_indexes=each) for each in asked]
    answer = client.ask(OffsetFetchRequest(groups=[Group(group_id="g", topics=topics)]), version)
    for numbers, found in zip(asked, answer.groups[0].topics, strict=True):
        offsets = [(each.partition_index, each.committed_offset) for each in found.partitions]
        assert offsets == [(number, -1 if number else 5) for number in numbers]


@pytest.mark.parametrize(("version", "pending"), [(6, -1), (7, 88), (10, 88)])
def test_what_is_pending_in_a_transaction_is_answered_to_who_asks_for_stable_offsets(
    cluster: Cluster, client: Client, version: int, pending: int
) -> None:
    x = TxnClient(cluster).begin()
    assert client.ask(txn_commit_request(x.producer, ("t", 0, 9)), 5).topics[0]
    topic_id = cluster.topic("t").id
    stable = offset_fetch_request(topic_id=topic_id, require_stable=version >= 7)
    answer = client.ask(stable, version)
    (found,) = (answer.topics if version < 8 else answer.groups[0].topics)[0].partitions
    assert (found.committed_offset, found.error_code) == (-1, pending if pending > 0 else 0)
    assert committed(client, version=version, topic_id=topic_id).error_code == 0
