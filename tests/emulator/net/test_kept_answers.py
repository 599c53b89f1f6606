"""Answers that are given again in encoded form: for as long as nothing changes that they show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from odradek.emulator.base.call import UNKNOWN_SOFTWARE, ClientSoftware
from odradek.emulator.base.chain import Step
from odradek.emulator.cluster import Cluster
from odradek.emulator.handlers.registry import SERVED
from odradek.storage import MemoryDisk
from odradek.wire import Error, Request
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.describe_cluster import DescribeClusterRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.metadata import MetadataRequest

from tests.support.cluster import Client, client_of, open_cluster

VERSIONS = ApiVersionsRequest(client_software_name="librdkafka", client_software_version="2.4")
METADATA = MetadataRequest(topics=[MetadataRequest.Topic(name="t")])
COORDINATOR = FindCoordinatorRequest(key_type=0, coordinator_keys=["g"])
DESCRIBE = DescribeClusterRequest(
    include_cluster_authorized_operations=False, endpoint_type=1, include_fenced_brokers=True
)
ASKED = [(VERSIONS, 4), (METADATA, 12), (COORDINATOR, 4), (DESCRIBE, 2)]


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Of three brokers, which has served each of these requests once."""
    cluster = open_cluster(
        MemoryDisk().directory(), nodes=(1, 2, 3), offsets_topic_replication_factor="3"
    )
    cluster.create_topic("t", 1, {}, replicas=3)
    cluster.groups.ensure_topic()
    for request, version in ASKED:
        client_of(cluster, "before").ask(request, version)
    yield cluster
    cluster.close()


@pytest.fixture
def handled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The requests that come to their handlers."""
    came: list[str] = []
    for request, _ in ASKED:
        served = SERVED[request.api_key]

        def handler(cluster: Any, call: Any, asked: Any, whole: Any = served.handler) -> Any:
            came.append(type(asked).__name__.removesuffix("Request"))
            return whole(cluster, call, asked)

        monkeypatch.setattr(served, "handler", handler)
    return came


def ask_all(cluster: Cluster) -> list[Any]:
    client = client_of(cluster)
    return [client.ask(request, version) for request, version in ASKED]


ALL = ["ApiVersions", "Metadata", "FindCoordinator", "DescribeCluster"]


def test_the_same_bytes_are_answered_without_their_handler(
    cluster: Cluster, handled: list[str]
) -> None:
    kept = ask_all(cluster)
    assert handled == []
    cluster.answers.changed()
    assert [*map(_without_controller, ask_all(cluster))] == [*map(_without_controller, kept)]
    assert handled == ALL


def _without_controller(answer: Any) -> Any:
    """It is another one each time."""
    if hasattr(answer, "controller_id"):
        answer.controller_id = 0
    return answer


def test_a_step_for_another_api_leaves_them(cluster: Cluster, handled: list[str]) -> None:
    class Other(Step):
        def concerns(self, api_key: int) -> bool:
            return api_key == MetadataRequest.api_key

    cluster.chain.append(Other())
    ask_all(cluster)
    assert handled == ["Metadata"]


@pytest.mark.parametrize(
    "change",
    [
        lambda cluster: cluster.create_topic("u", 1, {}),
        lambda cluster: cluster.replication.end_session(2),
        lambda cluster: cluster.replication.lose_quorum(is_lost=True),
        lambda cluster: cluster.metadata.next_producer_block(1),
    ],
    ids=["a topic", "a broker goes", "no controller", "a block of producer ids"],
)
def test_a_change_of_the_cluster_ends_them(
    cluster: Cluster, handled: list[str], change: Any
) -> None:
    change(cluster)
    ask_all(cluster)
    assert handled == ALL


def test_they_show_what_has_changed(cluster: Cluster) -> None:
    versions, _, coordinator, described = ask_all(cluster)
    leader = coordinator.coordinators[0].node_id
    cluster.replication.end_session(leader)
    again = ask_all(cluster)
    assert again[0].finalized_features_epoch > versions.finalized_features_epoch
    assert [broker.node_id for broker in again[1].brokers] == [n for n in (1, 2, 3) if n != leader]
    assert again[2].coordinators[0].node_id not in (-1, leader)
    fenced = [broker.broker_id for broker in again[3].brokers if broker.is_fenced]
    assert (fenced, [b.broker_id for b in described.brokers if b.is_fenced]) == ([leader], [])


@pytest.mark.parametrize(
    ("version", "partitions"), [(1, 1), (2, 1), (8, 1), (9, 1), (12, 1), (12, 2000)]
)
def test_any_broker_is_named_as_the_controller(
    cluster: Cluster, handled: list[str], version: int, partitions: int
) -> None:
    """In one answer and the next, as at nodes of KRaft; of those that are listed."""
    cluster.create_topic("u", partitions, {}, replicas=3)
    cluster.random.seed(1)
    request = MetadataRequest(topics=[MetadataRequest.Topic(name="u")])
    client = client_of(cluster)
    for there in ([1, 2, 3], [1, 3]):
        answers = [client.ask(request, version) for _ in range(12)]
        assert {answer.controller_id for answer in answers} == {*there}
        for answer in answers:
            answer.controller_id = 0
            assert answer == answers[0]
        assert [broker.node_id for broker in answers[0].brokers] == there
        if 2 in there:
            cluster.replication.stop(2)
    assert handled == ["Metadata"] * 2


def test_any_broker_is_named_in_a_description(cluster: Cluster) -> None:
    cluster.random.seed(1)
    client = client_of(cluster)
    for version in (0, 1, 2):
        answers = [client.ask(DESCRIBE, version) for _ in range(12)]
        assert {answer.controller_id for answer in answers} == {1, 2, 3}
        for answer in answers:
            answer.controller_id = 0
            assert answer == answers[0]


def test_who_asks_is_reported_and_known_all_the_same(cluster: Cluster, handled: list[str]) -> None:
    client = client_of(cluster, "another")
    assert client.connection.software == UNKNOWN_SOFTWARE
    client.ask(VERSIONS, 4)
    assert client.connection.software == ClientSoftware("librdkafka", "2.4")
    events = [event for event in cluster.journal.events() if event.kind == "connected"]
    assert (events[-1].client, events[-1].details["software"]) == ("another", " (librdkafka 2.4)")
    assert client.connection.client_id == "another"
    assert handled == []


@pytest.mark.parametrize(("request_", "closed"), [(DESCRIBE, 1), (METADATA, 0)])
def test_a_client_that_has_only_learnt_where_brokers_are_is_not_reported_to_close(
    cluster: Cluster, request_: Request, closed: int
) -> None:
    client = client_of(cluster, "another")
    client.ask(request_, 2 if request_ is DESCRIBE else 12)
    client.connection.lost()
    assert [event.kind for event in cluster.journal.events()].count("closed") == closed


def test_an_error_is_found_anew(cluster: Cluster, handled: list[str]) -> None:
    unnamed = ApiVersionsRequest(client_software_name="?", client_software_version="1")
    client: Client = client_of(cluster)
    for _ in range(2):
        assert client.ask(unnamed, 4).error_code == Error.INVALID_REQUEST
    assert handled == ["ApiVersions"] * 2
