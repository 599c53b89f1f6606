"""Verbs of leaders, replicas and coordinators at three brokers of a real Kafka, and the shell's."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from odradek.compat import RealCluster
from odradek.compat.cli.main import main
from odradek.compat.wire_client.waiting import WaitTimeout
from odradek.fixtures.remote import RemoteKafka

from tests.clients.support.wanted import WANT_REAL

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not WANT_REAL, reason="a cluster of a real Kafka takes half a minute"),
]
WAIT_S = 60.0


@pytest.fixture(scope="module")
def cluster() -> Iterator[RealCluster]:
    with RealCluster(3, config={"auto.leader.rebalance.enable": "false"}) as cluster:
        yield cluster


@pytest.fixture
def kafka(cluster: RealCluster) -> Iterator[RemoteKafka]:
    with RemoteKafka(cluster.bootstrap_servers) as kafka:
        kafka.timeout = WAIT_S
        yield kafka


def test_leaders_and_replicas_move(kafka: RemoteKafka) -> None:
    orders = kafka.create_topic("orders", replicas=3)
    orders.produce(b"x")
    first, second, third = orders[0].replicas
    orders[0].move_leader(to=third)
    assert (orders[0].leader, orders[0].replicas) == (third, [first, second, third])
    assert orders[0].elect() == first
    orders[0].reassign([second, third])
    assert (orders[0].leader, orders[0].replicas) == (second, [second, third])
    orders.assert_produced(value=b"x", within=WAIT_S)  # its high watermark may be old for a moment
    with pytest.raises(ValueError, match=f"broker {first} has no replica of"):
        orders[0].move_leader(to=first)


def test_coordinators_move(kafka: RemoteKafka) -> None:
    orders = kafka.create_topic("orders")
    group = kafka.group("billing")
    group.commit({("orders", 0): 0})
    for to in (1, 2, 3):
        group.move_coordinator(to=to)
        group.assert_committed({(orders.name, 0): 0}, within=WAIT_S)  # so may that one's


def test_a_move_waits_for_a_broker_that_is_down(kafka: RemoteKafka, cluster: RealCluster) -> None:
    orders = kafka.create_topic("orders", replicas=2)
    (away,) = {1, 2, 3} - {*orders[0].replicas}
    target = [orders[0].replicas[0], away]
    cluster.nodes[away].stop()
    try:
        with pytest.raises(WaitTimeout, match="It is on brokers"):
            orders[0].reassign(target, timeout=3)
        orders[0].cancel_reassignment()
        orders[0].reassign(target, wait=False)
    finally:
        cluster.nodes[away].start()
    orders[0].reassign(target)
    assert sorted(orders[0].isr) == sorted(target)


def test_the_shell(
    kafka: RemoteKafka, cluster: RealCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    def said(line: str) -> str:
        view, *arguments = line.split()
        status = main([view, cluster.bootstrap_servers, "--timeout", "60", *arguments])
        out = capsys.readouterr()
        assert status == 0, out.err
        return out.out

    rows = [json.loads(line) for line in said("brokers --json").splitlines()]
    assert [(each["broker"], each["state"]) for each in rows] == [(n, "up") for n in (1, 2, 3)]
    roles = [each["broker"] for each in rows if each["role"] == "controller"]
    assert roles == [kafka.controller]
    orders = kafka.create_topic("orders", replicas=3)
    name, (_, second, third) = orders.name, orders[0].replicas
    assert said(f"brokers lead {name} --by {second}") == f"{name}-0 is led by {second}\n"
    assert said(f"brokers elect {name}") == f"elected a leader of {name}-0\n"
    to = f"{third},{second}"
    assert said(f"brokers reassign {name} --to {to}") == f"moved {name}-0 to {to}\n"
    orders[0].reassign([third, second])  # each broker has heard of it
    (shown,) = map(json.loads, said(f"brokers partitions {name} --json").splitlines())
    assert (shown["replicas"], shown["state"]) == ([third, second], "")


def test_leaders_move_back_by_themselves() -> None:
    """As at the emulator's brokers (tests/emulator/replication/test_balance.py)."""
    with (
        RealCluster(3, config={"leader.imbalance.check.interval.seconds": "1"}) as cluster,
        RemoteKafka(cluster.bootstrap_servers) as kafka,
    ):
        kafka.timeout = WAIT_S
        orders = kafka.create_topic("orders", replicas=3)
        first, second, _ = orders[0].replicas
        cluster.nodes[first].stop()
        _await_leader(orders, second)
        cluster.nodes[first].start()
        _await_leader(orders, first)


def _await_leader(topic: Any, node_id: int) -> None:
    deadline = time.monotonic() + WAIT_S
    while topic[0].leader != node_id:
        assert time.monotonic() < deadline, topic[0].leader
        time.sleep(0.1)
