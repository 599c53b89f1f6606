"""What only an emulator can do: on a real Kafka each of these is skipped, with that reason."""

from __future__ import annotations

from pathlib import Path

import pytest
from odradek import Emulator, ManualClock
from odradek.compat import Client, NewRecord
from odradek.compat.clients import wait_until


def test_retention_now(kafka: Emulator) -> None:
    orders = kafka.create_topic("orders", configs={"retention.ms": 1000})
    orders.produce("long ago", timestamp=0)
    assert orders.retain() == 1
    assert orders.values() == []


def test_compaction_now(kafka: Emulator) -> None:
    table = kafka.create_topic("table", configs={"cleanup.policy": "compact"})
    table.produce("1", key="k")
    table.produce("2", key="k")
    assert table.compact() == 1
    assert table.values() == [b"2"]


def test_compaction_of_all(kafka: Emulator) -> None:
    assert kafka.compact() == 0


def test_segments(kafka: Emulator) -> None:
    (segment,) = kafka.create_topic("orders")[0].segments()
    assert segment.base_offset == 0


def test_clients(kafka: Emulator, stock: Client) -> None:
    orders = kafka.create_topic("orders")
    assert kafka.clients() == []
    with stock.consumer(kafka.bootstrap_servers, orders.name) as consumer:
        consumer.poll(0)
        wait_until(lambda: bool(kafka.clients()), "it has connected")


def test_a_forced_rebalance(kafka: Emulator, stock: Client) -> None:
    orders, group = kafka.create_topic("orders"), kafka.group("billing")
    with stock.consumer(kafka.bootstrap_servers, orders.name, group="billing") as consumer:

        def is_stable() -> bool:
            consumer.poll(stock.poll_s)
            return group.state == "Stable"

        wait_until(is_stable, "it has joined")
        before = group.generation or 0
        group.rebalance()
        wait_until(lambda: is_stable() and group.generation == before + 1, "it has joined again")


def test_rules(kafka: Emulator) -> None:
    rule = kafka.on("Produce").drop_reply().optional()
    assert (rule.hits, kafka.rules) == (0, [rule])


@pytest.mark.kafka(clock=ManualClock())
def test_time_stands_still(kafka: Emulator) -> None:
    kafka.advance(1)
    assert kafka.create_topic("orders").produce("a").offset == 0


@pytest.mark.kafka(config={"auto.create.topics.enable": False})
def test_broker_configs(kafka: Emulator) -> None:
    assert kafka.topics() == []


@pytest.mark.kafka(version="3.9")
def test_another_release(kafka: Emulator, stock: Client) -> None:
    orders = kafka.create_topic("orders")
    stock.produce(kafka.bootstrap_servers, orders.name, [NewRecord(b"a")])
    assert orders.values() == [b"a"]


def test_a_directory(kafka: Emulator) -> None:
    assert kafka.data_dir.is_dir()


def test_another_broker_with_a_directory(make_kafka: type[Emulator], tmp_path: Path) -> None:
    make_kafka(data_dir=tmp_path).create_topic("orders").produce("a")
    assert (tmp_path / "orders-0").is_dir()


def test_the_inside(kafka: Emulator) -> None:
    kafka.create_topic("orders")
    assert kafka.run(lambda cluster: len(cluster.topic("orders").partitions)) == 1


def test_notices(kafka: Emulator) -> None:
    assert kafka.notices == []


def test_waits_for_connections(kafka: Emulator, stock: Client) -> None:
    orders = kafka.create_topic("orders")
    with stock.consumer(kafka.bootstrap_servers, orders.name) as consumer:
        consumer.poll(0)
        assert len(kafka.wait_connected()) >= 1


def test_an_idle_broker(kafka: Emulator) -> None:
    kafka.wait_idle()


def test_a_process_that_ends(kafka: Emulator) -> None:
    kafka.kill()
    kafka.restart()
    assert kafka.topics() == []


def test_crash_points(kafka: Emulator) -> None:
    assert list(kafka.crash_points(lambda _: None)) == []


def test_a_disk_that_fails(kafka: Emulator) -> None:
    kafka.disk.on("append").fail().optional()


def test_a_network_that_misbehaves(kafka: Emulator) -> None:
    with kafka.network.latency(0.1).optional():
        assert kafka.topics() == []
