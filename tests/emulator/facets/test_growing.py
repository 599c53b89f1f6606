"""Brokers that join and leave, and a rolling restart."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from odradek.emulator import Emulator
from odradek.wire.api.metadata import MetadataRequest

from tests.support.connection import Connection


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(brokers=3) as kafka:
        yield kafka


def listed(kafka: Emulator, at: int) -> list[tuple[int, str, str | None]]:
    with Connection(kafka.brokers[at].address) as client:
        found = client.ask(MetadataRequest(topics=[]), 9).brokers
    return [(each.node_id, f"{each.host}:{each.port}", each.rack) for each in found]


def test_a_broker_joins(kafka: Emulator) -> None:
    kafka.create_topic("before", replicas=3)
    new = kafka.add_broker(rack="d")
    assert (new.id, new.rack, new.state) == (4, "d", "up")
    assert [each.id for each in kafka.brokers] == [1, 2, 3, 4]
    assert kafka.bootstrap_servers.split(",")[-1] == new.address
    for at in (1, 4):
        assert listed(kafka, at)[-1] == (4, new.address, "d")
    orders = kafka.create_topic("orders", replicas=4)
    assert sorted(orders[0].isr) == [1, 2, 3, 4]
    orders[0].move_leader(to=4)
    orders.produce(b"x")
    assert orders.values() == [b"x"]
    kafka.topic("before")[0].reassign([4])
    kafka.topic("before").produce(b"y")
    assert kafka.topic("before").values() == [b"y"]


def test_a_broker_that_has_joined_stops_and_starts(kafka: Emulator) -> None:
    new = kafka.add_broker()
    address = new.address
    new.stop()
    assert [node_id for node_id, *_ in listed(kafka, 1)] == [1, 2, 3]
    new.start()
    assert new.address == address
    kafka.restart()
    assert [node_id for node_id, *_ in listed(kafka, 4)] == [1, 2, 3, 4]


def test_a_broker_that_has_joined_coordinates(kafka: Emulator) -> None:
    group = kafka.group("billing")
    group.commit({("orders", 0): 0} if kafka.create_topic("orders") else {})
    kafka.add_broker()
    view = kafka.topic("__consumer_offsets")
    for partition in view:
        partition.reassign([4])
    assert group.offsets() == {("orders", 0): 0}


def test_one_broker_becomes_two() -> None:
    with Emulator(topics={"orders": 1}) as kafka:
        kafka.topic("orders").produce(b"x")
        kafka.add_broker()
        kafka.topic("orders")[0].reassign([2])
        kafka.brokers[1].stop()
        kafka.topic("orders").produce(b"y")
        assert kafka.topic("orders").values() == [b"x", b"y"]


def test_a_broker_without_replicas_leaves(kafka: Emulator) -> None:
    kafka.create_topic("orders", replicas=2)  # on 1 and 2
    address = kafka.brokers[3].address
    kafka.remove_broker(3)
    assert [each.id for each in kafka.brokers] == [1, 2]
    assert [node_id for node_id, *_ in listed(kafka, 1)] == [1, 2]
    with pytest.raises(ConnectionRefusedError):
        Connection(address)
    with pytest.raises(ValueError, match="there is no broker 3, but 1, 2"):
        kafka.remove_broker(3)
    assert kafka.add_broker().id == 4
    kafka.restart()
    assert [node_id for node_id, *_ in listed(kafka, 4)] == [1, 2, 4]


def test_a_broker_with_replicas_does_not_leave(kafka: Emulator) -> None:
    orders = kafka.create_topic("orders", partitions=7, replicas=3)
    orders.produce_all([b"a", b"b"])
    told = "broker 3 has replicas of orders-0, .*, orders-4 and 2 more partitions: reassign them"
    with pytest.raises(RuntimeError, match=told):
        kafka.remove_broker(3)
    assert kafka.brokers[3].state == "up"
    kafka.add_broker()
    kafka.remove_broker(3, move=True)
    assert orders[0].isr == [1, 2, 4]
    kafka.remove_broker(4, move=True)  # there is no other
    assert orders[0].isr == [1, 2]
    assert len(orders.values()) == 2


def test_a_broker_that_is_down_leaves(kafka: Emulator) -> None:
    orders = kafka.create_topic("orders", replicas=3)
    kafka.brokers[1].kill()
    kafka.remove_broker(1, move=True)
    assert orders[0].replicas == [2, 3]
    assert [each.id for each in kafka.brokers] == [2, 3]


def test_the_last_broker_does_not_leave() -> None:
    with Emulator() as kafka:
        with pytest.raises(RuntimeError, match="broker 1 is the only one, and cannot be removed"):
            kafka.remove_broker(1)
        with pytest.raises(TypeError, match="rack is a str, or None"):
            kafka.add_broker(rack=1)  # type: ignore[arg-type]
        with pytest.raises(RuntimeError, match=r"there is one broker: kafka\.restart\(\)"):
            kafka.rolling_restart()


def test_ports_go_on() -> None:
    with Emulator(brokers=2, advertised="kafka.test:9000") as kafka:
        assert kafka.add_broker().address == "kafka.test:9002"


def test_a_fork_has_the_brokers_that_joined(kafka: Emulator) -> None:
    kafka.add_broker()
    with kafka.fork() as other:
        assert [each.id for each in other.brokers] == [1, 2, 3, 4]
        other.remove_broker(4)
        assert len(kafka.brokers) == 4


def test_brokers_restart_one_after_the_other(kafka: Emulator) -> None:
    orders = kafka.create_topic("orders", replicas=3)
    told: list[tuple[str, int, str, list[int]]] = []
    kafka.rolling_restart(
        while_down=lambda broker: told.append(("down", broker.id, broker.state, orders[0].isr)),
        between=lambda broker: told.append(("back", broker.id, broker.state, orders[0].isr)),
    )
    assert told == [
        ("down", 1, "down, fenced", [2, 3]),
        ("back", 1, "up", [1, 2, 3]),
        ("down", 2, "down, fenced", [1, 3]),
        ("back", 2, "up", [1, 2, 3]),
        ("down", 3, "down, fenced", [1, 2]),
        ("back", 3, "up", [1, 2, 3]),
    ]


def test_what_is_called_within_a_rolling_restart_may_fail(kafka: Emulator) -> None:
    def fail(_: object) -> None:
        raise OSError("no")

    with pytest.raises(OSError, match="no"):
        kafka.rolling_restart(while_down=fail)
    assert [each.state for each in kafka.brokers] == ["up", "up", "up"]
