"""Fetch and rules: what its session holds is meant too, and partitions fail where they are read."""

from __future__ import annotations

from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import Error
from odradek.wire.api.fetch import FetchRequest, FetchResponse
from odradek.wire.batch import read_header
from odradek.wire.records import read_records

from tests.requests.fetch import asked, fetch_all, fetch_request, only, values
from tests.requests.produce import batch, produce
from tests.support.cluster import Client, client_of
from tests.support.ruled import Ruled


@pytest.fixture(autouse=True)
def topics(cluster: Cluster) -> None:
    for name in ("t", "u"):
        cluster.create_topic(name, 2, {})


@pytest.fixture
def kafka(cluster: Cluster) -> Ruled:
    return Ruled(cluster)


def found(response: FetchResponse) -> dict[tuple[str, int], tuple[int, list[Any]]]:
    """Of each partition its error, and its values."""
    return {
        (topic.topic, each.partition_index): (each.error_code, values(each))
        for topic in response.responses
        for each in topic.partitions
    }


def begin_session(client: Client) -> int:
    request = fetch_all(
        ("t", [asked(0), asked(1)]), ("u", [asked(0)]), session_epoch=0, session_id=0
    )
    session_id: int = client.ask(request, 12).session_id
    return session_id


def go_on(session_id: int, epoch: int, **more: Any) -> FetchRequest:
    return FetchRequest(
        **{"max_wait_ms": 500, "min_bytes": 1, "session_id": session_id, "session_epoch": epoch}
        | more
    )


def test_what_is_in_a_session_is_meant(kafka: Ruled, client: Client) -> None:
    session_id = begin_session(client)
    rule = kafka.on("Fetch", topic="t", partition=1).once().fail(Error.NOT_LEADER_OR_FOLLOWER)
    answer = client.ask(go_on(session_id, 1), 12)  # at once, though nothing is there
    assert found(answer) == {("t", 1): (Error.NOT_LEADER_OR_FOLLOWER, [])}
    assert rule.hits == 1
    # A partition that failed is in the next answer in any case, as on a real broker.
    assert found(client.ask(go_on(session_id, 2, max_wait_ms=0), 12)) == {("t", 1): (0, [])}
    assert found(client.ask(go_on(session_id, 3, max_wait_ms=0), 12)) == {}


def test_what_a_session_has_forgotten_is_not_meant(kafka: Ruled, client: Client) -> None:
    session_id = begin_session(client)
    rule = kafka.on("Fetch", topic="u").drop_reply()
    forgotten = [FetchRequest.ForgottenTopic(topic="u", partitions=[0])]
    client.ask(go_on(session_id, 1, max_wait_ms=0, forgotten_topics_data=forgotten), 12)
    client.ask(go_on(session_id, 2, max_wait_ms=0), 12)
    assert rule.hits == 0


def test_records_of_a_partition_that_fails_are_not_reported_as_fetched(
    kafka: Ruled, cluster: Cluster, client: Client
) -> None:
    produce(client, batch(b"a"))
    kafka.on("Fetch", topic="t").once().fail(Error.UNKNOWN_LEADER_EPOCH)
    response = client.ask(fetch_request(asked(), asked(1), max_wait_ms=500), 12)
    assert {each for each, _ in found(response).values()} == {Error.UNKNOWN_LEADER_EPOCH}
    assert "fetched" not in [event.kind for event in cluster.journal.events()]
    assert values(only(client.ask(fetch_request(asked()), 12))) == [b"a"]


def test_an_error_of_the_session_refuses_all_of_it(kafka: Ruled, client: Client) -> None:
    session_id = begin_session(client)
    kafka.on("Fetch").once().fail(Error.FETCH_SESSION_ID_NOT_FOUND)
    answer = client.ask(go_on(session_id, 1), 12)
    assert (answer.error_code, answer.responses) == (Error.FETCH_SESSION_ID_NOT_FOUND, [])
    client.ask(go_on(session_id, 1, max_wait_ms=0), 12)  # its epoch has not moved


def test_a_partition_that_does_not_exist_fails_too(kafka: Ruled, client: Client) -> None:
    kafka.on("Fetch", topic="none").fail(Error.KAFKA_STORAGE_ERROR)
    answer = client.ask(fetch_request(asked(), topic="none"), 12)
    assert only(answer).error_code == Error.KAFKA_STORAGE_ERROR


@pytest.mark.parametrize("how", ["crc", "cut"])
def test_records_are_damaged_on_their_way(kafka: Ruled, cluster: Cluster, how: str) -> None:
    client = client_of(cluster)
    for partition in (0, 1):
        produce(client, batch(b"a"), partition=partition)
    request = fetch_request(asked(), asked(1))
    whole = {each.partition_index: bytes(each.records) for each in parts(client.ask(request, 12))}
    rule = kafka.on("Fetch", partition=0).once().corrupt_records(how)
    damaged = {each.partition_index: bytes(each.records) for each in parts(client.ask(request, 12))}
    assert damaged[1] == whole[1]
    if how == "cut":
        assert damaged[0] == whole[0][: len(whole[0]) // 2]
    else:
        assert read_header(damaged[0]).crc != read_header(whole[0]).crc
        assert len(damaged[0]) == len(whole[0])
        assert [record.value for record in read_records(damaged[0])] == [b"a"]
    assert rule.hits == 1
    again = {each.partition_index: bytes(each.records) for each in parts(client.ask(request, 12))}
    assert again == whole


def parts(response: FetchResponse) -> list[Any]:
    (topic,) = response.responses
    return list(topic.partitions)


def test_an_answer_without_records_is_not_damaged(kafka: Ruled, client: Client) -> None:
    rule = kafka.on("Fetch").once().corrupt_records()
    client.ask(fetch_request(asked()), 12)
    assert rule.hits == 0
    produce(client, batch(b"a"))
    client.ask(fetch_request(asked()), 12)
    assert rule.hits == 1


def test_only_fetch_has_records_to_damage(kafka: Ruled) -> None:
    with pytest.raises(ValueError, match="an answer to Produce has no records to corrupt"):
        kafka.on("Produce").corrupt_records()


def test_the_answer_of_a_fetch_that_waits_counts_when_it_is_there(
    kafka: Ruled, cluster: Cluster, client: Client
) -> None:
    gate = kafka.on("Fetch").once().hold("after")
    client.send(fetch_request(asked(), max_wait_ms=5000), 12)
    assert (gate.hits, gate.held) == (0, 0)
    produce(client_of(cluster), batch(b"a"))
    assert (gate.hits, gate.held, client.answers()) == (1, 1, [])
    gate.release()
    (answer,) = client.answers()
    assert values(only(answer)) == [b"a"]
