"""Stock clients over a network that misbehaves."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
from odradek import Emulator
from odradek.compat import Client, NewRecord
from odradek.compat.clients import wait_until
from odradek.compat.clients.verbs import Consumer
from odradek.emulator import broker_thread

pytestmark = [pytest.mark.client]


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(topics={"orders": 1}) as kafka:
        yield kafka


def reads(client: Client, consumer: Consumer, count: int) -> list[bytes | None]:
    found: list[bytes | None] = []

    def has_read() -> bool:
        found.extend(record.value for record in consumer.poll(client.poll_s))
        return len(found) >= count

    wait_until(has_read, "it has read")
    return found


def test_slow_and_in_small_pieces(kafka: Emulator, client: Client) -> None:
    sent = [bytes([number]) * 5000 for number in range(5)]
    with kafka.network.latency(0.005, jitter=0.005, stream="both"), kafka.network.dribble(800):
        client.produce(kafka.bootstrap_servers, "orders", [NewRecord(each) for each in sent])
        with client.consumer(kafka.bootstrap_servers, "orders") as consumer:
            assert reads(client, consumer, 5) == sent


def test_a_consumer_that_was_cut_off_goes_on(kafka: Emulator, client: Client) -> None:
    orders = kafka.topic("orders")
    orders.produce(b"before")
    with client.consumer(kafka.bootstrap_servers, "orders") as consumer:
        assert reads(client, consumer, 1) == [b"before"]
        with kafka.cut_off():
            orders.produce(b"meanwhile")
            end = time.monotonic() + 0.5
            while time.monotonic() < end:
                assert consumer.poll(0.1) == []
        assert reads(client, consumer, 1) == [b"meanwhile"]


def test_a_consumer_whose_connections_are_reset_comes_back(kafka: Emulator, client: Client) -> None:
    orders = kafka.topic("orders")
    orders.produce(b"before")
    with client.consumer(kafka.bootstrap_servers, "orders") as consumer:
        assert reads(client, consumer, 1) == [b"before"]
        with kafka.network.reset() as reset:
            consumer.poll(0.1)
        assert reset.hits
        orders.produce(b"after")
        assert reads(client, consumer, 1) == [b"after"]


def test_only_the_client_that_is_meant_is_slow(kafka: Emulator) -> None:
    confluent_kafka = pytest.importorskip("confluent_kafka")

    def seconds(client_id: str) -> float:
        config = {"bootstrap.servers": kafka.bootstrap_servers, "client.id": client_id}
        admin = confluent_kafka.admin.AdminClient(config)
        admin.list_topics(timeout=30)
        begin = time.monotonic()
        admin.list_topics(timeout=30)
        return time.monotonic() - begin

    pytest.importorskip("confluent_kafka.admin")
    with kafka.network.latency(0.3, client_id="billing") as slow:
        assert seconds("billing") >= 0.3
        hits = slow.hits
        seconds("shop")
        assert slow.hits == hits
    assert slow.clients == ["billing"]


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, broker_thread.new_event_loop])
def test_what_is_sent_is_there_once_whatever_the_network_does(
    new_loop: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    confluent_kafka = pytest.importorskip("confluent_kafka")
    monkeypatch.setattr(broker_thread, "new_event_loop", new_loop)
    random, sent = Random(7), []
    with Emulator(topics={"orders": 1}) as kafka:
        producer = confluent_kafka.Producer(
            {
                "bootstrap.servers": kafka.bootstrap_servers,
                "enable.idempotence": True,
                "reconnect.backoff.max.ms": 100,
                "log_level": 0,
            }
        )
        network = kafka.network
        faults: list[Callable[[], Any]] = [
            lambda: network.latency(0.01, jitter=0.01, stream="both"),
            lambda: network.bandwidth(200_000, stream="both"),
            lambda: network.dribble(100, every=0.0002, stream="both"),
            lambda: network.limit(random.randrange(1, 5000), stream="upstream"),
            lambda: network.limit(random.randrange(1, 500)),
            network.cut_off,
            network.blackhole,
            network.reset,
            network.half_open,
            network.down,
        ]
        for fault in random.sample(faults, len(faults)):
            for _ in range(20):
                sent.append(str(len(sent)).encode() * random.randrange(1, 300))
                producer.produce("orders", sent[-1])
            with fault().optional():
                producer.poll(0.1)
        assert producer.flush(30) == 0
        assert kafka.topic("orders").values() == sent
