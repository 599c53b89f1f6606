"""Stock clients over a restore: those that are cut connect again, those that are kept go on."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from odradek import Emulator

confluent = pytest.importorskip("confluent_kafka")


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(
        {"group.initial.rebalance.delay.ms": 0}, topics={"orders": 2, "other": 1}
    ) as kafka:
        yield kafka


def consumer_of(kafka: Emulator, **more: Any) -> Any:
    consumer = confluent.Consumer(
        {
            "bootstrap.servers": kafka.bootstrap_servers,
            "group.id": "g",
            "auto.offset.reset": "earliest",
            "reconnect.backoff.ms": 5,
            "reconnect.backoff.max.ms": 50,
            **more,
        }
    )
    consumer.subscribe(["orders"])
    return consumer


def next_value(consumer: Any) -> bytes:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        message = consumer.poll(0.1)
        if message is not None and message.error() is None:
            return message.value()
    raise AssertionError("nothing came")


@pytest.mark.client
@pytest.mark.parametrize("clients", ["cut", "keep"])
@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_consumer_reads_on(kafka: Emulator, clients: str, protocol: str) -> None:
    consumer = consumer_of(kafka, **{"group.protocol": protocol})
    kafka.topic("orders").produce("before", partition=0)
    assert next_value(consumer) == b"before"
    consumer.commit(asynchronous=False)
    state = kafka.snapshot()
    ports = {client.port for client in kafka.clients()}

    kafka.restore(state, clients=clients)
    if clients == "keep":
        assert {client.port for client in kafka.clients()} == ports
    kafka.topic("orders").produce("after", partition=0)
    assert next_value(consumer) == b"after"
    kafka.topic("orders").produce("and more", partition=1)
    assert next_value(consumer) == b"and more"
    consumer.close()
    assert kafka.group("g").members == ()
    assert kafka.notices == []


@pytest.mark.client
@pytest.mark.parametrize("clients", ["cut", "keep"])
def test_a_producer_goes_on(kafka: Emulator, clients: str) -> None:
    """An idempotent one: another one may write twice what is under way when it is cut."""
    producer = confluent.Producer(
        {
            "bootstrap.servers": kafka.bootstrap_servers,
            "reconnect.backoff.ms": 5,
            "enable.idempotence": True,
        }
    )
    producer.produce("orders", b"before", partition=0)
    assert producer.flush(30) == 0
    state = kafka.snapshot()
    kafka.restore(state, clients=clients)
    producer.produce("orders", b"after", partition=0)
    assert producer.flush(30) == 0
    assert kafka.topic("orders").values() == [b"before", b"after"]


@pytest.mark.client
def test_a_transaction_that_was_open_is_ended_by_its_producer(kafka: Emulator) -> None:
    producer = confluent.Producer(
        {"bootstrap.servers": kafka.bootstrap_servers, "transactional.id": "x"}
    )
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce("orders", b"open", partition=0)
    assert producer.flush(30) == 0
    state = kafka.snapshot()
    with kafka.fork() as other:
        assert [each.is_open for each in other.transactions()] == [True]
    kafka.restore(state, clients="keep")
    assert [each.is_open for each in kafka.transactions()] == [True]
    producer.commit_transaction(30)
    assert kafka.topic("orders").values() == [b"open"]


def test_connections_are_cut_or_not(kafka: Emulator) -> None:
    def connected() -> socket.socket:
        host, port = kafka.bootstrap_servers.split(":")
        return socket.create_connection((host, int(port)))

    state = kafka.snapshot()
    for verb in (kafka.reset, lambda: kafka.restore(state)):
        with connected() as client:
            kafka.topics()
            verb()
            client.settimeout(30)
            assert client.recv(1) == b""
    with connected() as client:
        while not kafka.clients():
            kafka.topics()
        for _ in range(5):  # none of them counts as time in which it was silent
            kafka.restore(state, clients="keep")
        client.settimeout(0.1)
        with pytest.raises(TimeoutError):
            client.recv(1)
    assert kafka.topics() == ["orders", "other"]


def test_a_wait_in_another_thread_goes_on_with_the_restored_broker(kafka: Emulator) -> None:
    """Whoever asks from another thread meanwhile is carried out before or after, never between."""
    state = kafka.snapshot()
    failures: list[BaseException] = []
    is_over = threading.Event()

    def ask() -> None:
        try:
            while not is_over.is_set():
                assert len(kafka.topic("orders")) == 2
                assert set(kafka.topics()) == {"orders", "other"}
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for number in range(20):
        kafka.restore(state, clients=("cut", "keep")[number % 2])
    is_over.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert kafka.notices == []


def test_in_an_async_test(kafka: Emulator) -> None:
    async def test() -> None:
        async with kafka.fork() as other:
            other.topic("orders").produce("x")
            other.reset()
            assert other.topic("orders").values() == []

    asyncio.run(test())


@pytest.mark.slow
@pytest.mark.client
def test_snapshots_under_load_are_whole(kafka: Emulator) -> None:
    """Each is a prefix of what one producer sent, in each partition, and every transaction in it
    is there whole or not at all."""
    producer = confluent.Producer(
        {"bootstrap.servers": kafka.bootstrap_servers, "transactional.id": "x", "linger.ms": 0}
    )
    producer.init_transactions(30)
    is_over = threading.Event()

    def produce() -> None:
        number = 0
        while not is_over.is_set():
            producer.begin_transaction()
            for partition in (0, 1):
                producer.produce("orders", b"%d" % number, partition=partition)
            producer.commit_transaction(30)
            number += 1

    thread = threading.Thread(target=produce)
    thread.start()
    states = []
    for _ in range(8):
        before = kafka.topic("orders")[0].log_end_offset
        while kafka.topic("orders")[0].log_end_offset < before + 4:
            time.sleep(0.001)
        states.append(kafka.snapshot())
    is_over.set()
    thread.join()

    last = 0
    for state in states:
        kafka.restore(state)
        orders = kafka.topic("orders")
        counts = [len(orders[index].values()) for index in (0, 1)]
        for index in (0, 1):
            assert orders[index].values() == [b"%d" % each for each in range(counts[index])]
        assert counts[0] == counts[1]
        assert counts[0] > last
        last = counts[0]
        assert kafka.notices == []
