"""Requests that are carried out, and answered with an error all the same."""

from __future__ import annotations

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import Error
from odradek.wire.api.find_coordinator import FindCoordinatorRequest

from tests.requests.committed_offsets import commit_all
from tests.requests.committed_offsets import committed as committed_of
from tests.requests.fetch import asked, fetch_request
from tests.requests.produce import batch, produce_all
from tests.requests.transactions import init_request
from tests.support.cluster import Client
from tests.support.consumer import read
from tests.support.ruled import Ruled


@pytest.fixture
def kafka(cluster: Cluster) -> Ruled:
    cluster.create_topic("t", 2, {})
    return Ruled(cluster)


def codes(answer: object) -> list[int]:
    return [
        each.error_code
        for topic in answer.responses  # type: ignore[attr-defined]
        for each in topic.partition_responses
    ]


@pytest.mark.parametrize("version", [3, 9, 12])
def test_what_is_produced_is_there(
    kafka: Ruled, cluster: Cluster, client: Client, version: int
) -> None:
    rule = (
        kafka.on("Produce", topic="t", partition=1).once().fail("REQUEST_TIMED_OUT", when="after")
    )
    request = produce_all(("t", 0, batch(b"a")), ("t", 1, batch(b"b")))
    assert codes(client.ask(request, version)) == [Error.NONE, Error.REQUEST_TIMED_OUT]
    assert read(cluster, committed=False, partition=1) == [b"b"]
    assert codes(client.ask(request, version)) == [Error.NONE] * 2
    assert (rule.hits, str(rule)) == (
        1,
        "kafka.on('Produce', topic='t', partition=1).once()"
        ".fail(Error.REQUEST_TIMED_OUT, when='after')",
    )


def test_all_of_a_request(kafka: Ruled, cluster: Cluster, client: Client) -> None:
    kafka.on("Produce").once().fail("REQUEST_TIMED_OUT", when="after")
    request = produce_all(("t", 0, batch(b"a")), ("t", 1, batch(b"b")))
    assert codes(client.ask(request, 9)) == [Error.REQUEST_TIMED_OUT] * 2
    assert read(cluster, committed=False) == [b"a"]


def test_an_answer_with_one_error_for_all(kafka: Ruled, client: Client) -> None:
    look = FindCoordinatorRequest(coordinator_keys=["x"], key_type=1)
    client.ask(look, 4)
    kafka.on("InitProducerId", transactional_id="x").once().fail(
        "COORDINATOR_NOT_AVAILABLE", when="after"
    )
    first = client.ask(init_request("x"), 4)
    assert (first.error_code, first.producer_id) == (Error.COORDINATOR_NOT_AVAILABLE, -1)
    assert client.ask(init_request("x"), 4).producer_epoch == 1  # the first has had epoch 0


def test_a_commit_and_a_fetch(kafka: Ruled, client: Client) -> None:
    client.ask(FindCoordinatorRequest(coordinator_keys=["g"]), 4)
    kafka.on("OffsetCommit", group="g").once().fail("NOT_COORDINATOR", when="after")
    answer = client.ask(commit_all(("t", 0, 5), ("t", 1, 6)), 8)
    found = [each.error_code for topic in answer.topics for each in topic.partitions]
    assert found == [Error.NOT_COORDINATOR] * 2
    assert committed_of(client, version=7).committed_offset == 5
    kafka.on("Fetch", topic="t").once().fail("NOT_LEADER_OR_FOLLOWER", when="after")
    (topic,) = client.ask(fetch_request(asked(), topic="t"), 12).responses
    assert topic.partitions[0].error_code == Error.NOT_LEADER_OR_FOLLOWER


def test_when(kafka: Ruled) -> None:
    with pytest.raises(ValueError, match="when is 'before' or 'after', not 'later'"):
        kafka.on("Produce").fail("REQUEST_TIMED_OUT", when="later")
