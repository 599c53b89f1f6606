"""Rules and faults for one broker of several."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from odradek.emulator import Emulator
from odradek.wire import Error
from odradek.wire.api.heartbeat import HeartbeatRequest
from odradek.wire.api.metadata import MetadataRequest

from tests.support.connection import Connection


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(brokers=2) as kafka:
        yield kafka


def listed(kafka: Emulator, at: int) -> int:
    with Connection(kafka.brokers[at].address) as client:
        return len(client.ask(MetadataRequest(topics=[]), 9).brokers)


def test_a_rule_is_for_one_broker(kafka: Emulator) -> None:
    rule = kafka.on("Metadata", broker=2).disconnect()
    assert listed(kafka, 1) == 2
    assert rule.hits == 0
    with pytest.raises(EOFError):
        listed(kafka, 2)
    assert rule.hits == 1
    assert "by hand met a rule with its Metadata at broker 2: " in kafka.timeline()


def test_a_fault_of_the_network_is_for_one_broker(kafka: Emulator) -> None:
    with kafka.network.reset(broker=2) as fault:
        assert listed(kafka, 1) == 2
        with pytest.raises((OSError, EOFError)):
            listed(kafka, 2)
        assert fault.hits == 1
    with pytest.raises(ValueError, match="there is no such broker, but 1, 2"):
        kafka.network.latency(0.1, broker=3)
    assert kafka.add_broker().id == 3
    with kafka.network.latency(0.01, broker=3):
        assert listed(kafka, 3) == 3


def test_the_timeline_says_which_broker_has_refused(kafka: Emulator) -> None:
    with Connection(kafka.brokers[2].address) as client:
        request = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")
        assert client.ask(request, 4).error_code == Error.NOT_COORDINATOR
    assert "by hand was refused Heartbeat (group g) at broker 2: NOT_COORDINATOR" in (
        kafka.timeline()
    )


def test_one_broker_is_not_named() -> None:
    with Emulator() as kafka:
        with kafka.on("Metadata").delay(0):
            assert listed(kafka, 1) == 1
        assert "at broker" not in kafka.timeline()


@pytest.mark.parametrize("given", ["2", [1], 2.0, True, None])
def test_a_broker_is_named_by_its_id(kafka: Emulator, given: Any) -> None:
    told = "broker is the id of a broker, an int, not "
    orders = kafka.create_topic("orders", replicas=2)
    with pytest.raises(TypeError, match=told):
        kafka.on("Produce", broker=given)
    for change in (orders[0].shrink_isr, orders[0].grow_isr):
        with pytest.raises(TypeError, match=told):
            change(given)
    if given is not None:
        with pytest.raises(TypeError, match=told):
            kafka.network.latency(0.1, broker=given)


def test_a_rule_is_for_a_broker_that_there_is(kafka: Emulator) -> None:
    with pytest.raises(ValueError, match="there is no broker 9, but 1, 2"):
        kafka.on("Produce", broker=9)
    new = kafka.add_broker()
    with kafka.on("Produce", broker=new.id).optional().disconnect():
        pass
    kafka.on("Produce", broker=lambda node_id: node_id > 1).optional().disconnect()
