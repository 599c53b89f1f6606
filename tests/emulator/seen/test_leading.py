"""A test's own produce waits for a leader, as a client does."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from odradek.emulator import Emulator
from odradek.emulator.facets.brokers import BrokerView
from odradek.emulator.seen.waiting import WaitTimeout
from odradek.wire import Error, Refused


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(brokers=3, clock="manual") as kafka:
        yield kafka


@pytest.mark.parametrize("end", [BrokerView.kill, BrokerView.pause])
def test_a_leader_that_has_just_died_is_waited_for(end: Callable[[BrokerView], None]) -> None:
    with Emulator(brokers=3) as kafka:
        kafka.timeout = 30
        orders = kafka.create_topic("orders", partitions=3, replicas=3)
        orders.produce(b"before", partition=0)
        end(kafka.brokers[1])
        assert orders.produce(b"after", partition=0).offset == 1
        assert orders[0].leader == 2
        assert "refused" not in str(kafka.timeline())


def test_a_clock_that_stands_still_is_named(kafka: Emulator) -> None:
    orders = kafka.create_topic("orders", replicas=3)
    kafka.timeout = 0.1
    kafka.brokers[1].kill()
    with pytest.raises(WaitTimeout) as error:
        orders.produce(b"x")
    assert (
        "waited 0.1 s for a leader of orders-0.\nbroker 1 leads orders-0 and is down until its "
        in str(error.value)
    )
    assert "session ends (the clock stands still before kafka.advance())." in str(error.value)
    kafka.advance(seconds=1)
    assert orders.produce(b"x").offset == 0


def refused(kafka: Emulator, says: str) -> None:
    with pytest.raises(Refused, match=says) as error:
        kafka.topic("orders").produce(b"x")
    assert error.value.error is Error.NOT_LEADER_OR_FOLLOWER


def test_nobody_waits_in_the_brokers_own_thread(kafka: Emulator) -> None:
    kafka.create_topic("orders", replicas=3)
    kafka.brokers[1].kill()
    says = "broker 1 leads orders-0 and is down until its session ends"
    kafka.run(lambda _: refused(kafka, says))


def test_nobody_waits_for_what_nobody_can_lead(kafka: Emulator) -> None:
    kafka.create_topic("orders", replicas=1)
    kafka.brokers[1].stop()
    refused(kafka, r"nobody leads orders-0 \(broker 1 is down, fenced\)")


def test_nobody_waits_for_another_leader_without_controllers(kafka: Emulator) -> None:
    orders = kafka.create_topic("orders", replicas=3)
    with kafka.without_quorum():
        orders.produce(b"x")
        kafka.brokers[1].kill()
        refused(kafka, "broker 1 leads orders-0 and is down, and no controller lets another one")


def test_a_wait_ends_where_nobody_is_left_to_lead() -> None:
    with Emulator(brokers=3) as kafka:
        kafka.timeout = 30
        kafka.create_topic("orders", replicas=1)
        kafka.brokers[1].kill()
        refused(kafka, r"nobody leads orders-0 \(broker 1 is down, fenced\)")
