"""Brokers that join and leave when something stands in the way: then nothing is changed."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from odradek.emulator import Emulator
from odradek.emulator.facets.brokers import BrokerView
from odradek.wire import Error, Refused

WAIT_S = 30.0


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(brokers=3, clock="manual") as kafka:
        yield kafka


def states(kafka: Emulator) -> dict[int, str]:
    return {each.id: each.state for each in kafka.brokers}


def records(kafka: Emulator) -> int:
    """How long the metadata log is."""
    return kafka.run(lambda cluster: cluster.metadata.end_offset)


def reset(kafka: Emulator) -> None:
    kafka.reset()


def killed(kafka: Emulator) -> None:
    kafka.kill()
    kafka.restart()


def restored(kafka: Emulator) -> None:
    kafka.restore(kafka.snapshot())


@pytest.mark.parametrize("after", [Emulator.restart, killed, restored, reset])
def test_the_first_broker_leaves_for_good(
    kafka: Emulator, after: Callable[[Emulator], Any]
) -> None:
    kafka.create_topic("orders", replicas=2).produce(b"x")
    before = kafka.snapshot()
    kafka.remove_broker(1, move=True)
    after(kafka)
    assert list(states(kafka)) == [2, 3]
    kafka.restore(before)
    assert list(states(kafka)) == [2, 3]
    assert kafka.topic("orders").values() == [b"x"]
    with kafka.fork() as other:
        assert (list(states(other)), other.topic("orders").values()) == ([2, 3], [b"x"])


def test_the_first_broker_leaves_a_directory(tmp_path: Path) -> None:
    with Emulator(brokers=3, data_dir=tmp_path) as kafka:
        kafka.create_topic("orders", replicas=2).produce(b"x")
        kafka.remove_broker(1, move=True)
    with Emulator(brokers=3, data_dir=tmp_path) as kafka:
        assert kafka.topic("orders").values() == [b"x"]


def test_a_broker_follows_where_it_is_a_replica_already(tmp_path: Path) -> None:
    with Emulator(brokers=3, data_dir=tmp_path) as kafka:
        kafka.create_topic("orders", replicas=3).produce(b"x")
        kafka.create_topic("alone", partitions=3).produce(b"y", partition=2)
    with Emulator(brokers=2, data_dir=tmp_path) as kafka:
        orders, alone = kafka.topic("orders")[0], kafka.topic("alone")[2]
        assert (orders.isr, alone.leader) == ([1, 2], -1)
        kafka.add_broker()
        assert (orders.isr, alone.leader) == ([1, 2, 3], 3)
        assert kafka.topic("alone").values() == [b"y"]


def test_without_controllers_nobody_joins_or_leaves(kafka: Emulator) -> None:
    with kafka.without_quorum():
        for change in (kafka.add_broker, lambda: kafka.remove_broker(3)):
            with pytest.raises(Refused, match="there is no controller") as refused:
                change()
            assert refused.value.error is Error.REQUEST_TIMED_OUT
        assert states(kafka) == {1: "up", 2: "up", 3: "up"}
    new = kafka.add_broker()
    assert kafka.create_topic("orders", replicas=4)[0].isr == [1, 2, 3, new.id]
    kafka.restart()
    assert list(states(kafka)) == [1, 2, 3, 4]


def test_what_does_not_join_listens_nowhere() -> None:
    """The port that it is advertised with is none."""
    with Emulator(advertised="kafka.test:65535") as kafka:
        with pytest.raises(Exception, match="65535"):
            kafka.add_broker()
        assert list(states(kafka)) == [1]
        kafka.restart()
        assert list(states(kafka)) == [1]


def test_a_broker_joins_the_side_of_the_controller(kafka: Emulator) -> None:
    with kafka.partition_network({1}, {2, 3}):
        kafka.advance(seconds=1)
        kafka.add_broker()
        kafka.advance(seconds=1)
        assert states(kafka) == {1: "up, fenced", 2: "up", 3: "up", 4: "up"}
        kafka.create_topic("orders", replicas=3)


def test_who_has_left_does_not_count_in_a_broken_network() -> None:
    with Emulator(brokers=5, clock="manual") as kafka:
        with kafka.partition_network({1, 2}, {3, 4, 5}):
            kafka.advance(seconds=1)
            assert kafka.controller == 3
            kafka.remove_broker(1)
            kafka.remove_broker(4)
            assert kafka.controller == 3  # two of three
            kafka.remove_broker(5)  # one of two: nobody has more than half
            kafka.advance(seconds=1)
            assert kafka.controller == -1
        assert states(kafka) == {2: "up", 3: "up"}
        assert kafka.controller != -1


def test_the_controller_leaves_a_broken_network() -> None:
    with Emulator(brokers=5, clock="manual") as kafka:
        kafka.partition_network({1, 2}, {3, 4, 5})
        kafka.advance(seconds=1)
        kafka.remove_broker(2)
        kafka.remove_broker(3)
        assert (kafka.controller, states(kafka)) == (4, {1: "up, fenced", 4: "up", 5: "up"})


def test_a_dead_broker_with_the_only_replica_stays(kafka: Emulator) -> None:
    orders = kafka.create_topic("orders")
    orders.produce(b"x")
    kafka.brokers[1].stop()
    before = records(kafka)
    told = r"orders-0 cannot be moved, as nobody leads it \(broker 1 is down, fenced\)"
    with pytest.raises(RuntimeError, match=told):
        kafka.remove_broker(1, move=True)
    assert (records(kafka), orders[0].replicas) == (before, [1])
    kafka.brokers[1].start()
    kafka.remove_broker(1, move=True)
    assert orders.values() == [b"x"]


@pytest.mark.parametrize("end", [BrokerView.kill, BrokerView.pause])
def test_a_dead_leader_leaves_before_its_session_ends(
    kafka: Emulator, end: Callable[[BrokerView], None]
) -> None:
    orders = kafka.create_topic("orders", replicas=2)
    orders.produce(b"x")
    end(kafka.brokers[1])
    kafka.remove_broker(1, move=True)
    assert (orders[0].leader, orders[0].replicas, orders[0].isr) == (2, [3, 2], [2, 3])
    assert orders.values() == [b"x"]


def test_a_replica_that_another_could_take_is_not_dropped(kafka: Emulator) -> None:
    orders = kafka.create_topic("orders", replicas=2)  # on 1 and 2
    kafka.brokers[3].stop()
    with pytest.raises(RuntimeError, match=r"no broker can take it \(broker 3 is down, fenced\)"):
        kafka.remove_broker(1, move=True)
    assert (orders[0].replicas, states(kafka)[1]) == ([1, 2], "up")


def test_what_would_keep_it_has_to_be_in_sync(kafka: Emulator) -> None:
    orders = kafka.create_topic("orders", replicas=3)
    kafka.brokers[2].stop()
    told = r"not all that would keep it are in sync \(broker 2 is down, fenced\)"
    with pytest.raises(RuntimeError, match=told):
        kafka.remove_broker(1, move=True)
    assert (orders[0].leader, orders[0].replicas) == (1, [1, 2, 3])


def test_a_partition_that_moves_keeps_its_brokers(kafka: Emulator) -> None:
    orders = kafka.create_topic("orders", replicas=1)
    kafka.brokers[3].stop()
    orders[0].reassign([3], wait=False)
    with pytest.raises(RuntimeError, match="it is being reassigned: wait for it, or end it"):
        kafka.remove_broker(1, move=True)
    orders[0].cancel_reassignment()
    kafka.remove_broker(1, move=True)
    assert orders[0].replicas == [2]


def test_the_last_that_runs_stays(kafka: Emulator) -> None:
    kafka.brokers[1].stop()
    kafka.brokers[2].stop()
    with pytest.raises(RuntimeError, match="broker 3 is the last one that runs"):
        kafka.remove_broker(3)
    assert states(kafka)[3] == "up"


def test_a_paused_broker_that_leaves_closes_everything(kafka: Emulator) -> None:
    host, port = kafka.brokers[3].address.split(":")
    with socket.create_connection((host, int(port))) as client:
        client.settimeout(WAIT_S)
        deadline = time.monotonic() + WAIT_S
        while not kafka.clients():
            assert time.monotonic() < deadline
        kafka.brokers[3].pause()
        kafka.remove_broker(3)
        with pytest.raises(ConnectionResetError):
            client.recv(1)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((host, int(port)))


def test_a_view_of_a_broker_that_has_left(kafka: Emulator) -> None:
    gone, orders = kafka.brokers[3], kafka.create_topic("orders", replicas=2)
    kafka.remove_broker(3)
    for ask in (
        *(lambda: gone.address, lambda: gone.rack, lambda: gone.state, lambda: gone.is_fenced),
        *(gone.stop, gone.kill, gone.start, gone.restart, gone.pause, gone.resume),
        *(gone.catch_up, lambda: gone.lag(orders[0]), lambda: gone.log_end_offset(orders[0])),
    ):
        with pytest.raises(ValueError, match="there is no broker 3, but 1, 2"):
            ask()


def test_a_replica_whose_broker_is_not_there(kafka: Emulator) -> None:
    orders = kafka.create_topic("orders", replicas=3)
    state = kafka.snapshot()
    kafka.remove_broker(3, move=True)
    kafka.restore(state)
    assert orders[0].replicas == [1, 2, 3]
    for ask in (orders[0].grow_isr, orders[0].move_leader):
        with pytest.raises(ValueError, match="there is no broker 3, but 1, 2"):
            ask(3)


def test_a_rolling_restart_begins_where_it_can_end(kafka: Emulator) -> None:
    with kafka.without_quorum():
        for restart in (kafka.rolling_restart, kafka.brokers[1].restart):
            with pytest.raises(RuntimeError, match="broker 1 is not restarted: it reaches no"):
                restart()
        assert states(kafka) == {1: "up", 2: "up", 3: "up"}
    kafka.brokers[3].stop()
    with pytest.raises(RuntimeError, match="broker 3 is not running"):
        kafka.rolling_restart(while_down=lambda broker: pytest.fail(f"{broker} was stopped"))


def test_a_rolling_restart_leaves_out_who_has_left(kafka: Emulator) -> None:
    back: list[int] = []

    def leave(broker: BrokerView) -> None:
        if broker.id == 2:
            kafka.remove_broker(2)
            kafka.remove_broker(3)
            kafka.add_broker()

    kafka.rolling_restart(while_down=leave, between=lambda broker: back.append(broker.id))
    assert (back, states(kafka)) == ([1], {1: "up", 4: "up"})


def test_what_a_rolling_restart_calls_is_a_function(kafka: Emulator) -> None:
    async def wait(_: object) -> None:
        raise AssertionError

    for name in ("between", "while_down"):
        with pytest.raises(TypeError, match=f"{name} is called and not awaited"):
            kafka.rolling_restart(**{name: wait})
        with pytest.raises(TypeError, match=f"{name} is a function of a broker, not 3"):
            kafka.rolling_restart(**{name: 3})  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [True, 1.0, "1", None])
def test_a_broker_is_named_by_its_id(kafka: Emulator, given: Any) -> None:
    with pytest.raises(TypeError, match="a broker is named by its id, an int, not "):
        kafka.brokers[given]
    with pytest.raises(TypeError, match="a broker is named by its id, an int, not "):
        kafka.remove_broker(given)


def test_a_rack_has_a_name(kafka: Emulator) -> None:
    with pytest.raises(ValueError, match=r"none is '': \['a', ''\]"):
        Emulator(brokers=2, racks=["a", ""])
    with pytest.raises(ValueError, match="rack is a name, or None for a broker without one"):
        kafka.add_broker(rack="")
