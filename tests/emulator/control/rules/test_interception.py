"""Several rules on one request: their order, and which of them ends it; and what happens to what is
held."""

from __future__ import annotations

from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import Error
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.heartbeat import HeartbeatRequest, HeartbeatResponse
from odradek.wire.api.list_groups import ListGroupsRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.headers import RequestHeader, write_request_header

from tests.support.cluster import Client, client_of
from tests.support.ruled import CarriedOut, Ruled

BEAT = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")
ALL = MetadataRequest(topics=None)


@pytest.fixture
def kafka(cluster: Cluster) -> Ruled:
    cluster.groups.ensure_topic()
    return Ruled(cluster)


def test_the_first_rule_that_answers_ends_it(kafka: Ruled, client: Client) -> None:
    first = kafka.on("Heartbeat").once().fail(Error.REBALANCE_IN_PROGRESS)
    second = kafka.on("Heartbeat").fail(Error.UNKNOWN_MEMBER_ID)
    assert client.ask(BEAT, 4).error_code == Error.REBALANCE_IN_PROGRESS
    assert (first.hits, second.hits) == (1, 0)
    assert client.ask(BEAT, 4).error_code == Error.UNKNOWN_MEMBER_ID


def test_answers_are_changed_in_the_order_of_the_rules(kafka: Ruled, client: Client) -> None:
    def add(letter: str) -> Any:
        def edit(response: Any) -> None:
            response.cluster_id += letter

        return edit

    kafka.on("Metadata").edit(lambda response: setattr(response, "cluster_id", ""))
    for letter in "abc":
        kafka.on("Metadata").edit(add(letter))
    assert client.ask(ALL, 12).cluster_id == "abc"


def test_what_is_changed_is_changed_for_this_client_alone(kafka: Ruled, cluster: Cluster) -> None:
    cluster.create_topic("t", 1, {})

    def empty(response: Any) -> None:
        for topic in response.topics:
            topic.partitions.clear()
        response.topics.clear()

    usual = client_of(cluster).ask(ALL, 12)
    rule = kafka.on("Metadata").once().edit(empty)
    assert client_of(cluster).ask(ALL, 12).topics == []
    assert client_of(cluster).ask(ALL, 12) == usual
    assert rule.hits == 1


def test_a_delay_and_an_error_compose(kafka: Ruled, cluster: Cluster, client: Client) -> None:
    kafka.on("Heartbeat").delay(1)
    kafka.on("Heartbeat").fail(Error.NOT_COORDINATOR)
    kafka.on("Heartbeat").throttle(5)  # not asked: the one before it has answered
    client.send(BEAT, 4)
    cluster.advance(999)
    assert client.answers() == []
    cluster.advance(1)
    (answer,) = client.answers()
    assert (answer.error_code, answer.throttle_time_ms) == (Error.NOT_COORDINATOR, 0)


def test_what_answers_is_changed_by_the_rules_before_it(kafka: Ruled, client: Client) -> None:
    kafka.on("Heartbeat").throttle(5)
    kafka.on("Heartbeat").fail(Error.NOT_COORDINATOR)
    answer = client.ask(BEAT, 4)
    assert (answer.error_code, answer.throttle_time_ms) == (Error.NOT_COORDINATOR, 5)


def test_an_unsupported_version_is_answered_in_the_first_one(
    kafka: Ruled, cluster: Cluster
) -> None:
    kafka.on("ApiVersions").throttle(5)  # of which v0 has no place
    kafka.on("ApiVersions").fail(Error.UNSUPPORTED_VERSION)
    client = client_of(cluster)
    request = ApiVersionsRequest(client_software_name="a", client_software_version="1")
    client.expect(1, request.api_key, 0)
    header = RequestHeader(request.api_key, 3, 1, "test")
    client.send_raw(write_request_header(header) + request.encode(3))
    (answer,) = client.answers()
    assert answer.error_code == Error.UNSUPPORTED_VERSION
    (served,) = answer.api_keys
    assert (served.api_key, served.min_version, served.max_version) == (request.api_key, 0, 4)


def test_an_answer_of_none_goes_to_the_broker(kafka: Ruled, client: Client) -> None:
    rule = kafka.on("Heartbeat").answer(lambda request: None)
    later = kafka.on("Heartbeat").throttle(5)
    answer = client.ask(BEAT, 4)
    assert (answer.error_code, answer.throttle_time_ms) == (Error.UNKNOWN_MEMBER_ID, 5)
    assert (rule.hits, later.hits) == (1, 1)


def test_what_is_held_goes_on_in_order(kafka: Ruled, cluster: Cluster) -> None:
    gate, carried_out = kafka.on("Heartbeat").hold(), CarriedOut()
    cluster.chain.append(carried_out)
    clients = [client_of(cluster, f"c{number}") for number in range(3)]
    for number, client in enumerate(clients):
        client.send(HeartbeatRequest(group_id=f"g{number}", generation_id=1, member_id="m"), 4)
    assert (gate.held, gate.hits, carried_out.requests) == (3, 3, [])
    gate.release()
    groups = [getattr(request, "group_id", "") for request in carried_out.requests]
    assert groups == ["g0", "g1", "g2"]
    assert [len(client.answers()) for client in clients] == [1, 1, 1]
    assert clients[0].ask(BEAT, 4).error_code  # the gate is open
    assert gate.hits == 4


def test_a_client_that_goes_is_held_no_more(kafka: Ruled, cluster: Cluster) -> None:
    held, late = kafka.on("Heartbeat").hold(), kafka.on("Metadata").delay(5)
    after = kafka.on("ListGroups").hold("after")
    for request, version in ((BEAT, 4), (ALL, 12), (ListGroupsRequest(), 4)):
        client = client_of(cluster)
        client.send(request, version)
        client.connection.close()
    assert (held.held, late.held, after.held) == (0, 0, 0)
    assert kafka._rules._meetings == {}
    held.release()
    cluster.advance(10_000)


def test_two_gates_one_after_the_other(kafka: Ruled, cluster: Cluster, client: Client) -> None:
    first, second = kafka.on("Heartbeat").hold(), kafka.on("Heartbeat").hold("after")
    client.send(BEAT, 4)
    assert (first.held, second.held) == (1, 0)
    first.release()
    assert (first.held, second.held, client.answers()) == (0, 1, [])
    second.release()
    assert len(client.answers()) == 1


def test_a_rule_that_is_removed_lets_go(kafka: Ruled, cluster: Cluster, client: Client) -> None:
    gate = kafka.on("Heartbeat").hold()
    client.send(BEAT, 4)
    gate.remove()
    assert len(client.answers()) == 1
    assert client.ask(BEAT, 4).error_code == Error.UNKNOWN_MEMBER_ID
    assert (gate.hits, cluster.chain) == (1, [])


def test_there_is_no_step_without_rules(kafka: Ruled, cluster: Cluster, client: Client) -> None:
    assert cluster.chain == []
    kafka.on("Heartbeat").once().fail(Error.NOT_COORDINATOR)
    kafka.on("Metadata").times(2).throttle(1, mute=False)
    assert len(cluster.chain) == 1
    client.ask(BEAT, 4)
    client.ask(ALL, 12)
    assert len(cluster.chain) == 1
    client.ask(ALL, 12)
    assert cluster.chain == []


def test_what_was_lost_is_answered_no_more_on_its_connection(
    kafka: Ruled, cluster: Cluster
) -> None:
    kafka.on("Heartbeat").once().drop_request()
    client = client_of(cluster)
    client.send(BEAT, 4)
    client.send(BEAT, 4)
    cluster.advance(100_000)
    assert (client.answers(), client.is_closed) == ([], False)
    assert client_of(cluster).ask(BEAT, 4)


@pytest.mark.parametrize("verb", ["answer", "edit"])
def test_a_function_that_fails_closes_the_connection_and_is_reported(
    kafka: Ruled, client: Client, verb: str
) -> None:
    def broken(message: Any) -> None:
        raise LookupError("no such thing")

    getattr(kafka.on("Heartbeat"), verb)(broken)
    client.send(BEAT, 4)
    assert (client.answers(), client.is_closed) == ([], True)
    with pytest.raises(LookupError, match="no such thing") as raised:
        kafka.check_faults()
    assert raised.value.__notes__ == [f"raised within kafka.on('Heartbeat').{verb}(broken)"]
    kafka.check_faults()  # it was told


@pytest.mark.parametrize("verb", ["answer", "edit"])
def test_what_is_no_response_of_the_api_is_reported(
    kafka: Ruled, client: Client, verb: str
) -> None:
    getattr(kafka.on("Metadata"), verb)(lambda message: HeartbeatResponse())
    client.send(ALL, 12)
    assert client.is_closed
    with pytest.raises(TypeError, match="a MetadataResponse or None is returned"):
        kafka.check_faults()


def test_a_condition_that_fails_is_no_match_and_is_reported(kafka: Ruled, client: Client) -> None:
    rule = kafka.on("Heartbeat", where=lambda request: request.nothing).drop_request()
    assert client.ask(BEAT, 4).error_code == Error.UNKNOWN_MEMBER_ID
    assert rule.hits == 0
    with pytest.raises(AttributeError):
        kafka.check_faults()


def test_every_hit_is_reported_to_the_journal(
    kafka: Ruled, cluster: Cluster, client: Client
) -> None:
    kafka.on(HeartbeatRequest, group="g").times(2).fail(Error.NOT_COORDINATOR, "moved")
    for _ in range(3):
        client.ask(BEAT, 4)
    (event,) = [event for event in cluster.journal.events() if event.kind == "rule"]
    sentence = (
        "test met a rule with its Heartbeat: "
        "kafka.on(HeartbeatRequest, group='g').times(2).fail(Error.NOT_COORDINATOR, 'moved')"
    )
    assert event.sentence.startswith(f"{sentence} 2 times in ")
