"""Situations that last, as raw requests meet them; others see nothing of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from odradek.emulator import Emulator, Error, Refused, Situation
from odradek.emulator.transactions.transaction import Producer
from odradek.wire import Request
from odradek.wire.api.find_coordinator import FindCoordinatorRequest

from tests.requests.committed_offsets import commit_all
from tests.requests.fetch import asked, fetch_request
from tests.requests.groups import heartbeat_request, join_request, joined
from tests.requests.produce import batch, produce, produce_request
from tests.requests.transactions import add_request, end_request, init_request
from tests.support.connection import Connection, ask


class Met(NamedTuple):
    """A request, and the error in its answer while the situation lasts."""

    situation: Callable[[Emulator], Situation]
    request: Callable[[Emulator], Request]
    version: int
    code: Callable[[Any], int]
    error: Error
    other: Callable[[Emulator], Request]
    """The same of somebody else, which is answered as ever."""


def records(kafka: Emulator, topic: str = "orders", partition: int = 0, **more: Any) -> Request:
    return produce_request(batch(b"x", time=kafka.now), topic, partition, **more)


def of_produce(answer: Any) -> int:
    return int(answer.responses[0].partition_responses[0].error_code)


def of_fetch(answer: Any) -> int:
    return int(answer.responses[0].partitions[0].error_code)


def of_commit(answer: Any) -> int:
    return int(answer.topics[0].partitions[0].error_code)


def of_add(answer: Any) -> int:
    (topic,) = answer.results_by_topic_v3_and_below
    return int(topic.results_by_partition[0].partition_error_code)


def whole(answer: Any) -> int:
    return int(answer.error_code)


def new_member(group: str) -> Callable[[Emulator], Request]:
    return lambda kafka: join_request(group_id=group)


def initialized(kafka: Emulator, name: str) -> Any:
    found = FindCoordinatorRequest(coordinator_keys=[name], key_type=1)
    ask(kafka.bootstrap_servers, found, 4)
    return ask(kafka.bootstrap_servers, init_request(name), 4)


LOADING, MOVED = Error.COORDINATOR_LOAD_IN_PROGRESS, Error.NOT_COORDINATOR
NOT_LEADER = Error.NOT_LEADER_OR_FOLLOWER
TABLE = {
    "not leader, produce": Met(
        lambda k: k.situations.not_leader("orders"),
        records,
        9,
        of_produce,
        NOT_LEADER,
        lambda k: records(k, "bills"),
    ),
    "not leader, one partition": Met(
        lambda k: k.situations.not_leader(k.topic("orders"), partition=0),
        records,
        9,
        of_produce,
        NOT_LEADER,
        lambda k: records(k, "orders", 1),
    ),
    "not leader, fetch": Met(
        lambda k: k.situations.not_leader("orders", seconds=60),
        lambda k: fetch_request(asked(), topic="orders"),
        12,
        of_fetch,
        NOT_LEADER,
        lambda k: fetch_request(asked(), topic="bills"),
    ),
    "coordinator loads, join": Met(
        lambda k: k.situations.coordinator_loading(group="g"),
        new_member("g"),
        3,
        whole,
        LOADING,
        new_member("h"),
    ),
    "coordinator loads, commit": Met(
        lambda k: k.situations.coordinator_loading(group=k.group("g"), seconds=60),
        lambda k: commit_all(("orders", 0, 1), group="g"),
        8,
        of_commit,
        LOADING,
        lambda k: commit_all(("orders", 0, 1), group="h"),
    ),
    "coordinator loads, init": Met(
        lambda k: k.situations.coordinator_loading(transactional_id="x"),
        lambda k: init_request("x"),
        4,
        whole,
        LOADING,
        lambda k: init_request("y"),
    ),
    "coordinator moved, join": Met(
        lambda k: k.situations.coordinator_moved(group="g"),
        new_member("g"),
        3,
        whole,
        MOVED,
        new_member("h"),
    ),
    "coordinator moved, init": Met(
        lambda k: k.situations.coordinator_moved(transactional_id="x"),
        lambda k: init_request("x"),
        4,
        whole,
        MOVED,
        lambda k: init_request("y"),
    ),
    "too large": Met(
        lambda k: k.situations.message_too_large("orders", 60),
        records,
        9,
        of_produce,
        Error.MESSAGE_TOO_LARGE,
        lambda k: records(k, "bills"),
    ),
    "storm": Met(
        lambda k: k.situations.retry_storm("orders"),
        records,
        9,
        of_produce,
        Error.REQUEST_TIMED_OUT,
        lambda k: records(k, "bills"),
    ),
    "storm, not all replicas are waited for": Met(
        lambda k: k.situations.retry_storm("orders"),
        records,
        9,
        of_produce,
        Error.REQUEST_TIMED_OUT,
        lambda k: records(k, acks=1),
    ),
}


@pytest.mark.parametrize("name", TABLE)
def test_what_is_answered(kafka: Emulator, name: str) -> None:
    met = TABLE[name]
    for each in ("x", "y"):
        initialized(kafka, each)
    ask(kafka.bootstrap_servers, FindCoordinatorRequest(coordinator_keys=["g"]), 4)
    with met.situation(kafka) as situation, Connection(kafka.bootstrap_servers) as client:
        assert met.code(client.ask(met.request(kafka), met.version)) == met.error
        assert met.code(client.ask(met.other(kafka), met.version)) == Error.NONE
        assert situation.hits == 1
    with Connection(kafka.bootstrap_servers) as client:
        assert met.code(client.ask(met.request(kafka), met.version)) == Error.NONE


def test_a_lost_acknowledgement_is_of_what_is_stored(kafka: Emulator) -> None:
    with kafka.situations.lost_acknowledgement("orders") as lost:
        with Connection(kafka.bootstrap_servers) as client, pytest.raises((EOFError, OSError)):
            client.ask(records(kafka), 9)
        assert kafka.topic("orders").values() == [b"x"]
        assert of_produce(ask(kafka.bootstrap_servers, records(kafka), 9)) == Error.NONE
    assert lost.hits == 1
    assert repr(lost) == "kafka.situations.lost_acknowledgement('orders')"


def test_a_silent_one_leaves_the_connection_open(kafka: Emulator) -> None:
    lost = kafka.situations.lost_acknowledgement("orders", silent=True)
    with Connection(kafka.bootstrap_servers) as client:
        client.send(records(kafka), 9)
        assert lost.wait_hit() == 1
        assert [each.in_flight for each in kafka.clients()] == [1]


def test_a_storm_is_over_after_so_many(kafka: Emulator) -> None:
    storm = kafka.situations.retry_storm("orders", 2)
    with Connection(kafka.bootstrap_servers) as client:
        codes = [of_produce(client.ask(records(kafka), 9)) for _ in range(3)]
    assert codes == [Error.REQUEST_TIMED_OUT] * 2 + [Error.NONE]
    assert kafka.topic("orders").values() == [b"x"] * 3
    assert storm.hits == 2


def test_heartbeats_are_answered_by_a_coordinator_that_loads(kafka: Emulator) -> None:
    with Connection(kafka.bootstrap_servers) as client:
        client.ask(FindCoordinatorRequest(coordinator_keys=["g"]), 4)
        member = joined(client)
        with kafka.situations.coordinator_loading(group="g").optional():
            answer = client.ask(heartbeat_request(member), 4)
    assert answer.error_code in (Error.NONE, Error.REBALANCE_IN_PROGRESS)


def test_a_transaction_that_begins_while_its_coordinator_loads(kafka: Emulator) -> None:
    """Its partition cannot be added: the broker that was asked says NOT_ENOUGH_REPLICAS."""
    known = initialized(kafka, "x")
    numbers = {"producer_id": known.producer_id, "producer_epoch": known.producer_epoch}
    data = batch(b"x", time=kafka.now, **numbers, base_sequence=0, transactional=True)
    request = produce_request(data, "orders", transactional_id="x")
    with kafka.situations.coordinator_loading(transactional_id="x"):
        answer = ask(kafka.bootstrap_servers, request, 12)
        assert of_produce(answer) == Error.NOT_ENOUGH_REPLICAS
    assert of_produce(ask(kafka.bootstrap_servers, request, 12)) == Error.NONE
    with kafka.situations.coordinator_loading(transactional_id="x") as loading:
        end = end_request(Producer(known.producer_id, known.producer_epoch), name="x")
        assert whole(ask(kafka.bootstrap_servers, end, 4)) == LOADING
    assert loading.hits == 1


def test_partitions_of_a_transaction_whose_coordinator_loads(kafka: Emulator) -> None:
    known = initialized(kafka, "x")
    request = add_request(Producer(known.producer_id, known.producer_epoch), [("orders", [0])])
    with kafka.situations.coordinator_loading(transactional_id="x"):
        assert of_add(ask(kafka.bootstrap_servers, request, 3)) == LOADING
    assert of_add(ask(kafka.bootstrap_servers, request, 3)) == Error.NONE


def test_who_asks_again_finds_the_coordinator_that_has_moved(kafka: Emulator) -> None:
    with Connection(kafka.bootstrap_servers) as client:
        client.ask(FindCoordinatorRequest(coordinator_keys=["g"]), 4)
        moved = kafka.situations.coordinator_moved(group="g")
        assert [client.ask(join_request(), 3).error_code for _ in range(2)] == [MOVED] * 2
        client.ask(FindCoordinatorRequest(coordinator_keys=["h"]), 4)  # of another group
        assert client.ask(join_request(), 3).error_code == MOVED
        client.ask(FindCoordinatorRequest(coordinator_keys=["g"]), 4)
        assert client.ask(join_request(), 3).error_code == Error.NONE
        assert moved.hits == 3


def test_the_limit_is_what_it_was_again(kafka: Emulator) -> None:
    kafka.create_topic("small", configs={"max.message.bytes": 200})
    kafka.topic("small").produce(b"x" * 50)
    with kafka.situations.message_too_large("small", 60):
        answer = ask(kafka.bootstrap_servers, records(kafka, "small"), 9)
        assert of_produce(answer) == Error.MESSAGE_TOO_LARGE
    kafka.topic("small").produce(b"x" * 50)
    with Connection(kafka.bootstrap_servers) as client:
        large = batch(b"x" * 300, time=kafka.now)
        assert produce(client, large, topic="small").error_code == Error.MESSAGE_TOO_LARGE


def test_a_limit_for_a_while(kafka: Emulator) -> None:
    kafka.create_topic("small", configs={"max.message.bytes": 200})
    with kafka.paused():
        limit = kafka.situations.message_too_large("small", 60, seconds=5)
        answer = ask(kafka.bootstrap_servers, records(kafka, "small"), 9)
        assert of_produce(answer) == Error.MESSAGE_TOO_LARGE
        kafka.restart()
        kafka.advance(seconds=4)
        answer = ask(kafka.bootstrap_servers, records(kafka, "small"), 9)
        assert of_produce(answer) == Error.MESSAGE_TOO_LARGE
        kafka.advance(seconds=1)
        answer = ask(kafka.bootstrap_servers, records(kafka, "small"), 9)
        assert of_produce(answer) == Error.NONE
    assert limit.hits == 2


def test_a_full_disk_spares_what_the_test_does(kafka: Emulator) -> None:
    with kafka.situations.disk_full() as full:
        kafka.topic("orders").produce(b"of the test")
        kafka.create_topic("new").produce_all([b"y"] * 3)
        kafka.group("g").commit({("orders", 0): 1})
        answer = ask(kafka.bootstrap_servers, records(kafka), 9)
        assert of_produce(answer) == Error.KAFKA_STORAGE_ERROR
        kafka.topic("orders").produce(b"of the test, later")
        assert full.hits >= 1
    assert set(kafka.topic("orders").values()) == {b"of the test", b"of the test, later"}
    with kafka.disk.full(), pytest.raises(Refused, match="KAFKA_STORAGE_ERROR"):
        kafka.topic("orders").produce(b"x")  # a fault of the disk is for all


def test_a_full_disk_for_a_while(kafka: Emulator) -> None:
    with kafka.paused():
        full = kafka.situations.disk_full(seconds=5)
        answer = ask(kafka.bootstrap_servers, records(kafka), 9)
        assert of_produce(answer) == Error.KAFKA_STORAGE_ERROR
        kafka.advance(seconds=5)
        assert of_produce(ask(kafka.bootstrap_servers, records(kafka), 9)) == Error.NONE
    assert full.hits >= 1
    assert kafka.topic("orders").values() == [b"x"]


def test_for_a_while_by_the_broker_s_clock(kafka: Emulator) -> None:
    with kafka.paused():
        kafka.situations.not_leader("orders", seconds=5)
        assert of_produce(ask(kafka.bootstrap_servers, records(kafka), 9)) == NOT_LEADER
        kafka.advance(seconds=5)
        assert of_produce(ask(kafka.bootstrap_servers, records(kafka), 9)) == Error.NONE
