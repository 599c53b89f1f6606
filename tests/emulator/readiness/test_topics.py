"""`timing="kafka"`: a topic is unknown at first, then without a leader, then as ever. The time is
the clock's, since there is no server that would wait in real time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.readiness.figures import COMMITTED
from odradek.wire import Error
from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.describe_topic_partitions import DescribeTopicPartitionsRequest
from odradek.wire.api.metadata import MetadataRequest, MetadataResponse

from tests.requests.fetch import asked, fetch, fetch_all, fetch_request, only, values
from tests.requests.offsets import list_offsets_request, look_up
from tests.requests.produce import batch, produce, produce_all, produce_request
from tests.requests.topics import create_topics, new_topic
from tests.support.cluster import open_cluster
from tests.support.patient import Patient, errors_until_none

UNKNOWN = Error.UNKNOWN_TOPIC_OR_PARTITION
NOT_LEADER = Error.NOT_LEADER_OR_FOLLOWER
MANY = 12
"""So many partitions take a while to get their leaders, in any run."""
Ask: TypeAlias = Callable[[Patient], int]


def metadata(client: Patient, *names: str, by_id: bytes = b"") -> list[MetadataResponse.Topic]:
    """What is said of these topics, of the one with an id, or of all."""
    Topic = MetadataRequest.Topic
    topics = [Topic(name=name) for name in names]
    if by_id:
        topics = [Topic(topic_id=by_id, name=None)]
    request = MetadataRequest(topics=topics or None, allow_auto_topic_creation=True)
    found: list[MetadataResponse.Topic] = client.ask(request, 12).topics
    return found


@pytest.fixture
def cluster() -> Cluster:
    """Topics get so many partitions that the time without a leader is seen."""
    return open_cluster(timing="kafka", num_partitions=str(MANY))


def is_ready(cluster: Cluster, client: Patient, topic: str = "t") -> None:
    assert Error.NONE not in errors_until_none(
        cluster, lambda: produce(client, batch(b"a"), topic=topic).error_code
    )


@pytest.mark.parametrize(
    "ask",
    [
        lambda client: produce(client, batch(b"a")).error_code,
        lambda client: fetch(client).error_code,
        lambda client: look_up(client, -1).error_code,
    ],
    ids=["Produce", "Fetch", "ListOffsets"],
)
def test_a_topic_that_metadata_creates(cluster: Cluster, client: Patient, ask: Ask) -> None:
    assert [each.error_code for each in metadata(client, "t")] == [UNKNOWN]
    assert errors_until_none(cluster, lambda: ask(client)) == [UNKNOWN, NOT_LEADER]
    assert ask(client) == Error.NONE


def test_metadata_shows_a_topic_once_it_is_known(cluster: Cluster, client: Patient) -> None:
    begin = cluster.clock.now()
    errors = errors_until_none(cluster, lambda: metadata(client, "t")[0].error_code)
    assert errors == [UNKNOWN]
    assert COMMITTED[0] <= cluster.clock.now() - begin <= COMMITTED[-1] + 10
    assert len(metadata(client, "t")[0].partitions) == MANY


def test_metadata_of_all_topics_and_by_id_does_not_show_it_either(
    cluster: Cluster, client: Patient
) -> None:
    metadata(client, "t")
    topic = cluster.topic("t")
    assert metadata(client) == []
    (hidden,) = metadata(client, by_id=topic.id)
    assert (hidden.error_code, hidden.name) == (Error.UNKNOWN_TOPIC_ID, None)
    errors_until_none(cluster, lambda: metadata(client, "t")[0].error_code)
    assert [each.name for each in metadata(client)] == ["t"]
    assert metadata(client, by_id=topic.id)[0].name == "t"


def test_nor_does_describe_topic_partitions(cluster: Cluster, client: Patient) -> None:
    metadata(client, "t")
    named = [DescribeTopicPartitionsRequest.Topic(name="t")]

    def described() -> int:
        (topic,) = client.ask(DescribeTopicPartitionsRequest(topics=named), 0).topics
        return int(topic.error_code)

    assert client.ask(DescribeTopicPartitionsRequest(topics=[]), 0).topics == []
    assert errors_until_none(cluster, described) == [UNKNOWN]


def test_create_topics_is_answered_when_it_is_known(cluster: Cluster, client: Patient) -> None:
    create_topics(client, new_topic("t", MANY))
    assert client.waited_ms >= int(COMMITTED[0])
    cluster.advance(1)
    assert metadata(client, "t")[0].error_code == Error.NONE
    errors = errors_until_none(cluster, lambda: produce(client, batch(b"a")).error_code)
    assert errors == [NOT_LEADER]


def test_a_topic_is_unknown_while_the_broker_makes_the_logs_of_another(
    cluster: Cluster, client: Patient
) -> None:
    create_topics(client, new_topic("before", MANY))
    create_topics(client, new_topic("t"))
    cluster.advance(1)
    assert metadata(client, "t")[0].error_code == UNKNOWN
    errors = errors_until_none(cluster, lambda: produce(client, batch(b"a")).error_code)
    assert errors[0] is UNKNOWN
    assert produce(client, batch(b"a"), topic="before").error_code == Error.NONE


def test_delete_topics_takes_as_long(cluster: Cluster, client: Patient) -> None:
    create_topics(client, new_topic("t"))
    client.ask(DeleteTopicsRequest(topic_names=["t"], timeout_ms=1000), 5)
    assert client.waited_ms >= int(COMMITTED[0])
    assert metadata(client, "t")[0].error_code == UNKNOWN


def test_by_id_an_unknown_topic_has_an_error_of_its_own(cluster: Cluster, client: Patient) -> None:
    metadata(client, "t")
    topic_id = cluster.topic("t").id

    def produced() -> int:
        request = produce_request(batch(b"a"), topic="", topic_id=topic_id)
        return int(client.ask(request, 13).responses[0].partition_responses[0].error_code)

    def fetched() -> int:
        request = fetch_request(asked(), topic="", topic_id=topic_id)
        return int(only(client.ask(request, 13)).error_code)

    assert (produced(), fetched()) == (Error.UNKNOWN_TOPIC_ID, Error.UNKNOWN_TOPIC_ID)
    assert errors_until_none(cluster, fetched) == [Error.UNKNOWN_TOPIC_ID, NOT_LEADER]
    assert produced() == Error.NONE


def test_other_topics_of_a_request_are_served(cluster: Cluster, client: Patient) -> None:
    cluster.create_topic("old", 1, {})
    is_ready(cluster, client, "old")
    metadata(client, "t")

    data = bytes(batch(b"b"))
    answer = client.ask(produce_all(("t", 0, data), ("old", 0, data)), 9)
    errors = {each.name: each.partition_responses[0].error_code for each in answer.responses}
    assert errors == {"t": UNKNOWN, "old": Error.NONE}

    found = client.ask(fetch_all(("t", [asked()]), ("old", [asked()]), max_wait_ms=400), 12)
    assert found.session_id == 0
    by_topic = {each.topic: each.partitions[0] for each in found.responses}
    assert by_topic["t"].error_code == UNKNOWN
    assert values(by_topic["old"]) == [b"a", b"b"]

    asks = list_offsets_request(-1, topic="t")
    asks.topics += list_offsets_request(-1, topic="old").topics
    listed = {each.name: each.partitions[0] for each in client.ask(asks, 7).topics}
    assert (listed["t"].error_code, listed["old"].offset) == (UNKNOWN, 2)


def test_a_fetch_does_not_wait_for_a_topic_that_is_not_known(
    cluster: Cluster, client: Patient
) -> None:
    metadata(client, "t")
    request = fetch_request(asked(), max_wait_ms=400, session_epoch=0)
    answer = client.ask(request, 12)
    assert client.waited_ms < 10
    assert (only(answer).error_code, answer.session_id) == (UNKNOWN, 0)


def test_without_acknowledgement_the_connection_is_closed(
    cluster: Cluster, client: Patient
) -> None:
    metadata(client, "t")
    client.client.send(produce_request(batch(b"a"), acks=0), 9)
    assert client.client.is_closed
    assert cluster.partition("t", 0).log_end_offset == 0


def test_a_topic_that_is_created_again_is_new(cluster: Cluster, client: Patient) -> None:
    create_topics(client, new_topic("t"))
    is_ready(cluster, client)
    client.ask(DeleteTopicsRequest(topic_names=["t"], timeout_ms=1000), 5)
    assert metadata(client, "t")[0].error_code == UNKNOWN
    errors = errors_until_none(cluster, lambda: fetch(client).error_code)
    assert errors == [UNKNOWN, NOT_LEADER]
