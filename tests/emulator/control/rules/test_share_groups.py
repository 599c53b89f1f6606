"""Rules on what members of share groups ask: fetches, also of what is in their sessions, and
acknowledgements."""

from __future__ import annotations

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import Error
from odradek.wire.api.share_acknowledge import ShareAcknowledgeResponse
from odradek.wire.api.share_fetch import ShareFetchResponse

from tests.requests.produce import batch, produce
from tests.requests.share_groups import (
    ACCEPT,
    acquired,
    share_acknowledge,
    share_beat,
    share_fetch,
    share_fetch_request,
)
from tests.support.cluster import Client, client_of
from tests.support.ruled import Ruled


@pytest.fixture
def kafka(cluster: Cluster) -> Ruled:
    return Ruled(cluster)


@pytest.fixture
def topic_id(cluster: Cluster, client: Client) -> bytes:
    """The id of t, of two partitions, which member a has in its session; 0 gets a record."""
    cluster.groups.ensure_topic()
    topic = cluster.create_topic("t", 2, {})
    share_beat(client)
    share_fetch(client, {(topic.id, 0): (), (topic.id, 1): ()})
    produce(client, batch(b"v"))
    return topic.id


def codes(answer: ShareFetchResponse | ShareAcknowledgeResponse) -> dict[int, int]:
    """The error of each partition."""
    return {p.partition_index: p.error_code for t in answer.responses for p in t.partitions}


def test_a_partition_of_the_session_fails(kafka: Ruled, client: Client, topic_id: bytes) -> None:
    meant = kafka.on("ShareFetch", topic="t", partition=0, group="g").once()
    rule = meant.fail(Error.NOT_LEADER_OR_FOLLOWER)
    answer = share_fetch(client, epoch=1)
    assert codes(answer) == {0: Error.NOT_LEADER_OR_FOLLOWER}
    assert rule.hits == 1
    assert acquired(share_fetch(client, epoch=2)) == [(0, 0, 1)], "nobody had acquired it"


def test_another_group_or_partition_is_not_meant(
    kafka: Ruled, client: Client, topic_id: bytes
) -> None:
    rules = [
        kafka.on("ShareFetch", topic="t", group="h").drop_reply(),
        kafka.on("ShareFetch", partition=2).drop_reply(),
        kafka.on("ShareFetch", topic="t", partition=1).drop_reply(),
    ]
    answer = share_fetch(client, epoch=1, forgotten={topic_id: [1]})
    assert acquired(answer) == [(0, 0, 1)]
    assert [rule.hits for rule in rules] == [0, 0, 0]


def test_what_a_fetch_acknowledges_is_carried_out_though_its_partition_fails(
    cluster: Cluster, kafka: Ruled, client: Client, topic_id: bytes
) -> None:
    share_fetch(client, epoch=1)
    kafka.on("ShareFetch", topic="t").once().fail(Error.KAFKA_STORAGE_ERROR)
    answer = share_fetch(client, {(topic_id, 0): [(0, 0, [ACCEPT])]}, 2)
    assert codes(answer) == dict.fromkeys((0, 1), Error.KAFKA_STORAGE_ERROR)
    assert cluster.share_partition_managers.of_group("g")[0].start_offset == 1


def test_a_session_fails(kafka: Ruled, client: Client, topic_id: bytes) -> None:
    kafka.on("ShareFetch", group="g").once().fail(Error.SHARE_SESSION_NOT_FOUND)
    assert share_fetch(client, epoch=1).error_code == Error.SHARE_SESSION_NOT_FOUND
    assert acquired(share_fetch(client, epoch=1)) == [(0, 0, 1)]


def test_records_whose_delivery_is_lost_stay_acquired(
    cluster: Cluster, kafka: Ruled, client: Client, topic_id: bytes
) -> None:
    """The lock ends before anybody gets them again."""
    kafka.on("ShareFetch", topic="t").once().drop_reply()
    client.send(share_fetch_request(epoch=1), 2)
    assert client.answers() == []
    other, part = client_of(cluster), (topic_id, 0)
    assert acquired(share_fetch(other, {part: ()}, member_id="b")) == []
    cluster.advance(30_000)
    assert acquired(share_fetch(other, epoch=1, member_id="b")) == [(0, 0, 2)]


def test_an_acknowledgement_that_fails_is_not_carried_out(
    kafka: Ruled, client: Client, topic_id: bytes
) -> None:
    share_fetch(client, epoch=1)
    acks = {(topic_id, 0): [(0, 0, [ACCEPT])]}
    failing = kafka.on("ShareAcknowledge", topic="t").once()
    failing.fail(Error.COORDINATOR_NOT_AVAILABLE)
    assert codes(share_acknowledge(client, acks, 2)) == {0: Error.COORDINATOR_NOT_AVAILABLE}
    assert codes(share_acknowledge(client, acks, 3)) == {0: 0}  # the session went on


def test_an_acknowledgement_whose_answer_is_lost_is_carried_out(
    cluster: Cluster, kafka: Ruled, client: Client, topic_id: bytes
) -> None:
    share_fetch(client, epoch=1)
    acks = {(topic_id, 0): [(0, 0, [ACCEPT])]}
    kafka.on("ShareAcknowledge").once().fail(Error.REQUEST_TIMED_OUT, when="after")
    assert share_acknowledge(client, acks, 2).error_code == Error.REQUEST_TIMED_OUT
    assert cluster.share_partition_managers.of_group("g")[0].start_offset == 1
