"""A snapshot keeps which of several brokers run, and what replicas have."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from odradek import Emulator
from odradek.emulator.snapshots.archive import StateError

from tests.requests.produce import batch, produce_request
from tests.support.connection import Connection

CONFIG = {"replica.lag.time.max.ms": 3000, "broker.session.timeout.ms": 6000}


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(CONFIG, brokers=3, clock="manual") as kafka:
        yield kafka


def states(kafka: Emulator) -> list[str]:
    return [broker.state for broker in kafka.brokers]


def unreplicated(kafka: Emulator, value: bytes) -> None:
    """Produce what only the leader acknowledges."""
    request = produce_request(batch(value), topic="orders", acks=1)
    with Connection(kafka.brokers[1].address) as client:
        client.ask(request, 9)


def test_a_broker_that_is_stopped_stays_so(kafka: Emulator) -> None:
    orders = kafka.create_topic("orders", replicas=2)  # on brokers 1 and 2
    orders.produce(b"kept")
    kafka.brokers[2].stop()
    orders.produce(b"lost")
    state = kafka.snapshot()
    kafka.brokers[2].start()

    kafka.restore(state)

    assert states(kafka) == ["up", "down, fenced", "up"]
    assert (orders[0].leader, orders[0].isr) == (1, [1])
    assert kafka.brokers[2].log_end_offset(orders[0]) == 1
    kafka.brokers[1].stop()
    kafka.brokers[2].start()
    assert kafka.elect_leader("orders", unclean=True) == 2
    assert orders.values() == [b"kept"]


def test_nobody_leads_what_nobody_led(kafka: Emulator) -> None:
    orders = kafka.create_topic("orders", replicas=2)
    orders.produce(b"first")
    kafka.brokers[2].stop()
    orders.produce(b"second")
    kafka.brokers[1].stop()
    kafka.brokers[2].start()
    state = kafka.snapshot()

    kafka.restore(state)

    assert states(kafka) == ["down, fenced", "up", "up"]
    assert orders[0].leader == -1
    kafka.brokers[1].start()
    assert orders[0].leader == 1
    assert orders.values() == [b"first", b"second"]


def test_a_session_begins_anew(kafka: Emulator) -> None:
    orders = kafka.create_topic("orders", replicas=3)
    kafka.brokers[1].kill()
    kafka.advance(seconds=5)
    state = kafka.snapshot()
    kafka.advance(seconds=1)
    assert orders[0].leader == 2

    kafka.restore(state)

    kafka.advance(seconds=5)
    assert states(kafka) == ["down", "up", "up"]
    kafka.advance(seconds=1)
    assert states(kafka) == ["down, fenced", "up", "up"]
    assert orders[0].leader == 2


def test_what_replicas_have_is_kept_in_a_file_too(kafka: Emulator, tmp_path: Path) -> None:
    orders = kafka.create_topic("orders", replicas=3)
    orders.produce(b"first")
    kafka.brokers[3].lag(orders[0])
    orders[0].shrink_isr(2)
    unreplicated(kafka, b"second")
    file = kafka.snapshot().save(tmp_path / "state")

    with Emulator(CONFIG, brokers=3, clock="manual", state=file) as other:
        there = other.topic("orders")[0]
        assert (there.leader, there.isr) == (1, [1, 3])
        assert [each.log_end_offset(there) for each in other.brokers] == [2, 2, 1]
        assert [each.high_watermark(there) for each in other.brokers] == [1, 1, 1]
        other.advance(seconds=10)
        assert (there.isr, there.high_watermark) == ([1], 2)
        other.brokers[3].catch_up()
        there.grow_isr(2)
        assert there.isr == [1, 2, 3]


def test_a_fork_has_them_too(kafka: Emulator) -> None:
    kafka.create_topic("orders", replicas=3)
    kafka.brokers[3].stop()
    with kafka.fork() as twin:
        assert states(twin) == states(kafka)
        assert twin.topic("orders")[0].isr == [1, 2]
        twin.brokers[3].start()
        assert twin.topic("orders")[0].isr == [1, 2, 3]
    assert kafka.topic("orders")[0].isr == [1, 2]


def test_a_restart_of_all_starts_all(kafka: Emulator) -> None:
    orders = kafka.create_topic("orders", replicas=3)
    kafka.brokers[3].stop()
    kafka.brokers[2].lag(orders[0])
    unreplicated(kafka, b"first")
    kafka.restart()
    assert states(kafka) == ["up", "up", "up"]
    assert (orders[0].isr, orders[0].high_watermark) == ([1, 2, 3], 1)


def test_a_broken_network_is_whole_in_what_is_restored(kafka: Emulator) -> None:
    orders = kafka.create_topic("orders", replicas=3)
    with kafka.partition_network({1}, {2, 3}):
        kafka.advance(seconds=10)
        assert states(kafka)[0] == "up, fenced"
        state = kafka.snapshot()
    kafka.restore(state)
    assert (states(kafka), orders[0].isr) == (["up", "up", "up"], [1, 2, 3])
    with kafka.fork() as twin, Emulator(CONFIG, brokers=3, clock="manual", state=state) as other:
        for each in (twin, other):
            assert (states(each), each.topic("orders")[0].isr) == (states(kafka), [1, 2, 3])


def test_the_controllers_are_back_in_what_is_restored(kafka: Emulator) -> None:
    kafka.create_topic("orders", replicas=3)
    with kafka.without_quorum():
        kafka.brokers[1].kill()
        kafka.advance(seconds=10)
        state = kafka.snapshot()
        kafka.restore(state)
        assert (states(kafka)[0], kafka.controller) == ("down", 2)
        kafka.advance(seconds=10)
        assert kafka.topic("orders")[0].leader == 2


def test_a_state_in_which_nobody_would_run_is_refused(kafka: Emulator) -> None:
    kafka.create_topic("orders", replicas=3)
    kafka.add_broker()
    for node_id in (1, 2, 3):
        kafka.brokers[node_id].stop()
    state = kafka.snapshot()
    for node_id in (1, 2, 3):
        kafka.brokers[node_id].start()
    kafka.remove_broker(4)
    message = "no broker runs of those that there are: 1, 2, 3"
    with pytest.raises(StateError, match=message):
        kafka.restore(state)
    assert (states(kafka), kafka.topics()) == (["up", "up", "up"], ["orders"])
    with pytest.raises(StateError, match=message):
        Emulator(CONFIG, brokers=3, clock="manual", state=state).start()


def test_a_state_of_another_node_is_refused_before_anything_is_changed(kafka: Emulator) -> None:
    kafka.create_topic("orders")
    with Emulator({"node.id": 5}) as other:
        state = other.snapshot()
    with pytest.raises(StateError, match=r"of an Emulator with node\.id=5, this one has 1"):
        kafka.restore(state)
    assert kafka.topics() == ["orders"]
