"""Controllers that are lost, and a network between brokers that is broken."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from odradek.emulator import Emulator
from odradek.wire import Error, Refused, Request
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.describe_quorum import DescribeQuorumRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.produce import ProduceRequest

from tests.requests.produce import batch
from tests.support.connection import Connection

WAIT_S = 30.0
LATER_S = 1


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    """Three brokers under a manual clock; every session ends within LATER_S of it."""
    with Emulator(brokers=3, clock="manual") as kafka:
        yield kafka


def ask(kafka: Emulator, node_id: int, request: Request, version: int) -> Any:
    with Connection(kafka.brokers[node_id].address) as client:
        return client.ask(request, version)


def produced(kafka: Emulator, at: int, acks: int, timeout_ms: int = 30_000) -> tuple[Error, int]:
    part = ProduceRequest.Topic.Partition(index=0, records=batch(b"x"))
    topics = [ProduceRequest.Topic(name="orders", partition_data=[part])]
    request = ProduceRequest(acks=acks, timeout_ms=timeout_ms, topic_data=topics)
    found = ask(kafka, at, request, 10).responses[0].partition_responses[0]
    return Error(found.error_code), found.base_offset


def new_topic(name: str = "more") -> CreateTopicsRequest:
    topic = CreateTopicsRequest.Topic(
        name=name, num_partitions=1, replication_factor=1, assignments=[], configs=[]
    )
    return CreateTopicsRequest(topics=[topic], timeout_ms=100)


def brokers(kafka: Emulator, at: int) -> list[int]:
    return [each.node_id for each in ask(kafka, at, MetadataRequest(topics=[]), 9).brokers]


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def held(kafka: Emulator) -> int:
    """How many requests are waited for."""
    return sum(each.in_flight for each in kafka.clients())


# The controller


def test_the_controller_is_another_one_when_it_ends(kafka: Emulator) -> None:
    assert kafka.controller == 1
    kafka.brokers[1].stop()
    assert kafka.controller == 2
    kafka.brokers[1].start()
    assert kafka.controller == 2
    kafka.brokers[2].pause()
    assert kafka.controller == 1


def test_every_broker_votes(kafka: Emulator) -> None:
    topic = DescribeQuorumRequest.Topic
    partition = topic.Partition(partition_index=0)
    request = DescribeQuorumRequest(
        topics=[topic(topic_name="__cluster_metadata", partitions=[partition])]
    )

    def quorum(at: int) -> Any:
        answer = ask(kafka, at, request, 2)
        assert [each.node_id for each in answer.nodes] == [1, 2, 3]
        return answer.topics[0].partitions[0]

    before = quorum(2)
    assert (before.leader_id, before.observers) == (1, [])
    ends = {each.replica_id: each.log_end_offset for each in before.current_voters}
    assert ends == dict.fromkeys((1, 2, 3), before.high_watermark)
    kafka.brokers[1].kill()
    kafka.create_topic("orders")
    after = quorum(3)
    assert (after.leader_id, after.leader_epoch) == (2, before.leader_epoch + 1)
    ends = {each.replica_id: each.log_end_offset for each in after.current_voters}
    assert ends == {1: before.high_watermark, 2: after.high_watermark, 3: after.high_watermark}
    assert after.high_watermark > before.high_watermark


# Without controllers


def test_without_controllers_nothing_is_changed_but_records(kafka: Emulator) -> None:
    kafka.create_topic("orders", replicas=3)
    with kafka.without_quorum() as lost:
        assert repr(lost) == "kafka.without_quorum()"
        assert kafka.controller == -1
        kafka.brokers[3].kill()
        kafka.advance(seconds=LATER_S)
        assert brokers(kafka, 2) == [1, 2, 3]
        assert kafka.topic("orders")[0].isr == [1, 2, 3]
        assert produced(kafka, 1, acks=1) == (Error.NONE, 0)
        assert produced(kafka, 1, acks=-1, timeout_ms=50) == (Error.REQUEST_TIMED_OUT, 1)
        with pytest.raises(Refused) as caught:
            kafka.create_topic("more")
        assert caught.value.error is Error.REQUEST_TIMED_OUT
        with pytest.raises(RuntimeError, match="broker 3 cannot start: it reaches no controller"):
            kafka.brokers[3].start()
        with pytest.raises(RuntimeError, match="the controllers are lost already"):
            kafka.without_quorum()
    assert kafka.controller == 1
    kafka.advance(seconds=LATER_S)
    assert brokers(kafka, 2) == [1, 2]
    assert kafka.topic("orders")[0].isr == [1, 2]
    lost.heal()  # again: it has ended


def test_a_coordinator_that_nobody_has_looked_for_is_not_found(kafka: Emulator) -> None:
    request = FindCoordinatorRequest(coordinator_keys=["billing"])
    with kafka.without_quorum():
        (found,) = ask(kafka, 1, request, 4).coordinators
        assert found.error_code == Error.COORDINATOR_NOT_AVAILABLE
    (found,) = ask(kafka, 1, request, 4).coordinators
    assert found.error_code == Error.NONE


def test_what_the_controller_has_to_do_waits_for_it(kafka: Emulator) -> None:
    with ThreadPoolExecutor() as pool:
        with kafka.without_quorum():
            answer = pool.submit(ask, kafka, 2, new_topic(), 5)
            until(lambda: held(kafka) == 1)
            kafka.advance(seconds=LATER_S)  # it has named 100 ms
            assert not answer.done()
            assert kafka.topics() == []
        (topic,) = answer.result(WAIT_S).topics
    assert (topic.error_code, kafka.topics()) == (0, ["more"])


def test_a_restart_brings_the_controllers_back(kafka: Emulator) -> None:
    kafka.without_quorum()
    kafka.restart()
    assert kafka.controller == 1
    assert ask(kafka, 2, new_topic(), 5).topics[0].error_code == 0


def test_a_broker_that_stops_without_controllers_is_missed_later(kafka: Emulator) -> None:
    kafka.create_topic("orders", replicas=3)
    lost = kafka.without_quorum()
    kafka.brokers[1].stop()
    kafka.advance(seconds=LATER_S)
    assert kafka.topic("orders")[0].isr == [1, 2, 3]
    assert not kafka.brokers[1].is_fenced
    lost.heal()
    assert kafka.controller == 2
    kafka.advance(seconds=LATER_S)
    assert (kafka.topic("orders")[0].leader, kafka.topic("orders")[0].isr) == (2, [2, 3])


# A broken network


def test_the_smaller_side_is_fenced(kafka: Emulator) -> None:
    orders = kafka.create_topic("orders", replicas=3)
    with kafka.partition_network({1}, {2, 3}) as broken:
        assert repr(broken) == "kafka.partition_network({1}, {2, 3})"
        assert kafka.controller == 2
        assert orders[0].leader == 1
        assert produced(kafka, 1, acks=1) == (Error.NONE, 0)  # which the other side has not
        kafka.advance(seconds=LATER_S)
        assert kafka.brokers[1].is_fenced
        assert (orders[0].leader, orders[0].isr) == (2, [2, 3])
        assert brokers(kafka, 3) == [2, 3]
        assert orders.values() == []
        assert produced(kafka, 2, acks=-1) == (Error.NONE, 0)
    assert (orders[0].leader, orders[0].isr) == (2, [1, 2, 3])
    assert not kafka.brokers[1].is_fenced
    assert kafka.controller == 2


def test_a_follower_on_another_side_leaves_those_in_sync(kafka: Emulator) -> None:
    orders = kafka.create_topic("orders", replicas=3)
    kafka.partition_network({3})  # the others are one more side
    answers: list[Future[tuple[Error, int]]] = []
    with ThreadPoolExecutor() as pool:
        answers.append(pool.submit(produced, kafka, 1, -1))
        until(lambda: kafka.run(lambda c: c.partition("orders", 0).log_end_offset) == 1)
        assert orders.values() == []
        kafka.advance(seconds=LATER_S)
        assert answers[0].result(WAIT_S) == (Error.NONE, 0)
    assert orders[0].isr == [1, 2]
    kafka.heal()
    assert orders[0].isr == [1, 2, 3]


def test_where_no_side_is_more_than_half_there_is_no_controller() -> None:
    with Emulator(brokers=2, clock="manual") as kafka:
        orders = kafka.create_topic("orders", replicas=2)
        with kafka.partition_network([1], [2]):
            assert kafka.controller == -1
            kafka.advance(seconds=LATER_S)
            assert (orders[0].leader, orders[0].isr) == (1, [1, 2])
            assert produced(kafka, 1, acks=-1, timeout_ms=50)[0] is Error.REQUEST_TIMED_OUT
        assert kafka.controller == 1
        assert orders[0].isr == [1, 2]


def test_only_the_smaller_side_has_no_controller(kafka: Emulator) -> None:
    with kafka.partition_network({1}, {2, 3}), ThreadPoolExecutor() as pool:
        answer = pool.submit(ask, kafka, 1, new_topic("late"), 5)
        until(lambda: held(kafka) == 1)
        assert ask(kafka, 2, new_topic(), 5).topics[0].error_code == 0
        assert not answer.done()
        kafka.heal()
        assert answer.result(WAIT_S).topics[0].error_code == 0
    assert kafka.topics() == ["late", "more"]


def test_brokers_on_the_smaller_side_stop_and_come_back(kafka: Emulator) -> None:
    orders = kafka.create_topic("orders", replicas=3)
    with kafka.partition_network({1}, {2, 3}):
        kafka.brokers[1].stop()
        assert orders[0].leader == 1  # it could not tell
        kafka.advance(seconds=LATER_S)
        assert orders[0].leader == 2
    kafka.brokers[1].start()
    assert orders[0].isr == [1, 2, 3]


@pytest.mark.parametrize(
    ("sides", "error", "text"),
    [
        ([{1, 9}, {2}], ValueError, "there is no broker 9, but 1, 2, 3"),
        ([{1, 2}, {2, 3}], ValueError, "broker 2 is on two sides"),
        ([{1, 2, 3}], ValueError, "has at least two sides"),
        ([1, 2], TypeError, "a side of the network is a set of the ids of brokers, not 1"),
        (["1"], TypeError, "not '1'"),
    ],
)
def test_what_are_not_sides(
    kafka: Emulator, sides: list[Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        kafka.partition_network(*sides)
    assert kafka.controller == 1


def test_a_network_is_broken_once(kafka: Emulator) -> None:
    broken = kafka.partition_network({1})
    with pytest.raises(RuntimeError, match="is broken already: heal it first"):
        kafka.partition_network({2})
    broken.heal()
    with kafka.partition_network({2}):
        pass


def test_healing_leaves_a_broker_that_stands_still_as_it_is(kafka: Emulator) -> None:
    kafka.brokers[3].pause()
    kafka.heal()
    with Connection(kafka.brokers[3].address) as client, ThreadPoolExecutor() as pool:
        answer = pool.submit(client.ask, MetadataRequest(topics=[]), 9)
        assert brokers(kafka, 1) == [1, 2, 3]
        kafka.advance(seconds=LATER_S)
        assert not answer.done()
        kafka.brokers[3].resume()
        assert len(answer.result(WAIT_S).brokers) == 3
