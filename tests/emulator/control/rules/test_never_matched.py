"""What a test is told of a rule that never took effect."""

from __future__ import annotations

import pytest
from odradek import NeverMatched
from odradek.emulator.cluster import Cluster
from odradek.wire import Error
from odradek.wire.api.heartbeat import HeartbeatRequest
from odradek.wire.api.metadata import MetadataRequest

from tests.requests.produce import batch, produce_all
from tests.support.cluster import Client
from tests.support.ruled import Ruled

BEAT = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")


@pytest.fixture
def kafka(cluster: Cluster) -> Ruled:
    cluster.create_topic("t", 2, {})
    return Ruled(cluster)


def report(kafka: Ruled) -> str:
    with pytest.raises(NeverMatched) as raised:
        kafka.check_faults()
    kafka.check_faults()  # each is told once
    return str(raised.value)


def test_nothing_has_come(kafka: Ruled) -> None:
    kafka.on("Produce").drop_reply()
    text = "kafka.on('Produce').drop_reply() never took effect.\n  There was no Produce request"
    assert report(kafka) == f"{text}, nor any other."


def test_requests_of_other_apis(kafka: Ruled, client: Client) -> None:
    kafka.on("Produce").drop_reply()
    client.ask(BEAT, 4)
    client.ask(MetadataRequest(topics=[]), 12)
    client.ask(BEAT, 4)
    assert report(kafka).splitlines()[1:] == [
        "  There was no Produce request; there were Heartbeat (2), Metadata (1)."
    ]


def test_the_nearest_of_the_same_api(kafka: Ruled, client: Client) -> None:
    kafka.on("Produce", topic="order", partition=1, client_id="test").drop_reply()
    for topic, partition in (("t", 0), ("t", 1), ("t", 1)):
        client.ask(produce_all((topic, partition, batch(b"a"))), 9)
    assert report(kafka).splitlines()[1:] == [
        "  There were 3 other Produce requests; the nearest:",
        "    topic is 't' (2 times)",
        "    topic is 't', partition is 0",
    ]


def test_matched_and_not_counted(kafka: Ruled, client: Client) -> None:
    kafka.on("Heartbeat").after(5).drop_reply()
    for _ in range(2):
        client.ask(BEAT, 4)
    assert report(kafka).splitlines()[1:] == ["  It matched 2 requests, but counted none of them."]


def test_what_has_no_answer(kafka: Ruled, client: Client) -> None:
    kafka.on("Produce").drop_reply()
    client.send(produce_all(("t", 0, batch(b"a")), acks=0), 9)
    assert report(kafka).splitlines()[1:] == [
        "  It matched 1 request, without an answer that it could do something to."
    ]


def test_another_rule_came_first(kafka: Ruled, client: Client) -> None:
    kafka.on("Heartbeat", group="g").fail(Error.NOT_COORDINATOR)
    kafka.on("Heartbeat", group="g").fail(Error.UNKNOWN_MEMBER_ID)
    kafka.on("Heartbeat", group="other").optional().drop_reply()
    client.ask(BEAT, 4)
    assert report(kafka).splitlines() == [
        "kafka.on('Heartbeat', group='g').fail(Error.UNKNOWN_MEMBER_ID) never took effect.",
        "  There was 1 other Heartbeat request; the nearest:",
        "    kafka.on('Heartbeat', group='g').fail(Error.NOT_COORDINATOR) came first",
    ]


def test_a_version_without_a_place(kafka: Ruled, client: Client) -> None:
    kafka.on("Heartbeat").throttle(5)
    client.ask(BEAT, 0)
    assert report(kafka).splitlines()[2:] == ["    v0 has no throttle_time_ms"]


def test_a_request_that_asks_for_nothing_by_name(kafka: Ruled, client: Client) -> None:
    kafka.on("Metadata").fail(Error.LEADER_NOT_AVAILABLE)
    client.ask(MetadataRequest(topics=None), 12)
    assert report(kafka).splitlines()[2:] == [
        "    it asks for nothing by name, and v12 has no other place for an error"
    ]


def test_rules_that_are_forgotten(kafka: Ruled, cluster: Cluster) -> None:
    first, _ = kafka.on("Produce").drop_reply(), kafka.on("Fetch").drop_reply()
    kafka.forget_faults(but=[first])
    assert kafka.rules == [first]
    kafka.forget_faults()
    assert (kafka.rules, cluster.chain) == ([], [])
    kafka.check_faults()


def test_the_end_of_with(kafka: Ruled, cluster: Cluster, client: Client) -> None:
    with kafka.on("Heartbeat").drop_reply().optional() as lost:
        assert len(cluster.chain) == 1
    assert (lost.hits, cluster.chain) == (0, [])
    with (
        pytest.raises(NeverMatched, match="There was no Produce request"),
        kafka.on("Produce").drop_reply(),
    ):
        client.ask(BEAT, 4)
    kafka.check_faults()  # it was told
    with pytest.raises(ZeroDivisionError), kafka.on("Produce").drop_reply():
        raise ZeroDivisionError
    kafka.check_faults()


def test_a_rule_that_took_effect_is_not_reported(kafka: Ruled, client: Client) -> None:
    with kafka.on("Heartbeat").fail(Error.NOT_COORDINATOR) as failed:
        client.ask(BEAT, 4)
    assert failed.hits == 1
    kafka.check_faults()
    assert kafka.rules[0].hits == 1


def test_of_the_rules_of_one_situation_one_is_enough(kafka: Ruled, client: Client) -> None:
    rules = [kafka.on(api, group="g").fail("NOT_COORDINATOR") for api in ("Heartbeat", "JoinGroup")]
    together = tuple(each._fault for each in rules)
    for each in rules:
        each._fault.together = together
    assert client.ask(BEAT, 4).error_code == Error.NOT_COORDINATOR
    kafka.check_faults()


def test_none_of_the_rules_of_one_situation(kafka: Ruled, client: Client) -> None:
    rules = [
        kafka.on(api, group="h").fail("NOT_COORDINATOR").called("away")
        for api in ("Heartbeat", "JoinGroup", "SyncGroup")
    ]
    for each in rules:
        each._fault.together = tuple(other._fault for other in rules)
    assert report(kafka).splitlines() == [
        "away never took effect.",
        "  There was no Heartbeat request, nor any other.",
        "  Nor was there a request of JoinGroup, SyncGroup.",
    ]
    for each in rules:
        each._fault.is_checked = False
    client.ask(BEAT, 4)
    assert report(kafka).splitlines() == [
        "away never took effect.",
        "  There was 1 other Heartbeat request; the nearest:",
        "    group is 'g'",
    ]
