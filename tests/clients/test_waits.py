"""Waits and assertions beside stock clients: confluent-kafka in threads, aiokafka in a loop."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from odradek import Emulator, WaitTimeout, assert_exactly_once
from odradek.storage import MemoryDisk

confluent_kafka = pytest.importorskip("confluent_kafka")
aiokafka = pytest.importorskip("aiokafka")

pytestmark = [pytest.mark.client]

SOON = {"group.initial.rebalance.delay.ms": 0}


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(SOON, disk=MemoryDisk(), topics={"orders": 2}) as kafka:
        kafka.timeout = 30
        yield kafka


def producer(kafka: Emulator, **more: Any) -> Any:
    return confluent_kafka.Producer({"bootstrap.servers": kafka.bootstrap_servers, **more})


class Service(threading.Thread):
    """Reads orders, and answers each with a bill, in a thread of its own."""

    def __init__(self, kafka: Emulator) -> None:
        super().__init__()
        self._ends = threading.Event()
        self._producer = producer(kafka)
        self._consumer = confluent_kafka.Consumer(
            {
                "bootstrap.servers": kafka.bootstrap_servers,
                "group.id": "billing",
                "client.id": "billing-app",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
            }
        )
        self._consumer.subscribe(["orders"])

    def run(self) -> None:
        while not self._ends.is_set():
            message = self._consumer.poll(0.05)
            if message is not None and message.error() is None:
                bill = json.dumps({"of": json.loads(message.value())["id"], "total": 3})
                self._producer.produce("bills", bill.encode(), key=message.key())
                self._producer.flush()
                self._consumer.commit(message, asynchronous=False)
        self._consumer.close()

    def end(self) -> None:
        self._ends.set()
        self.join(30)
        assert not self.is_alive()


def test_a_service_with_a_consumer_thread(kafka: Emulator) -> None:
    orders, bills = kafka.topic("orders"), kafka.create_topic("bills")
    group = kafka.group("billing")
    service = Service(kafka)
    service.start()
    try:
        (member,) = group.wait_stable(members=1)
        assert group.wait_assigned("orders") == (member,)
        assert {each.client_id for each in kafka.wait_connected("billing-app")} == {"billing-app"}
        sender = producer(kafka)
        for number in range(5):
            sender.produce("orders", json.dumps({"id": number}).encode(), key=b"k")
        sender.flush()
        assert len(bills.wait_for(5)) == 5
        bills.assert_produced(key="k", json={"of": 3}, within=5)
        bills.assert_produced_in_order([{"of": number} for number in range(5)])
        assert sum(group.wait_consumed("orders").values()) == 5
        assert sum(group.wait_consumed().values()) == 5
        place = ("orders", orders.last().partition)
        group.assert_committed({place: 5})
        with pytest.raises(WaitTimeout, match=r"(?s)\$.of: 4, expected 9"):
            bills.wait_for(json={"of": 9}, timeout=0.05)
        kafka.wait_idle()
        bills.assert_nothing_produced()
    finally:
        service.end()
    group.wait_empty()


def test_transactions(kafka: Emulator) -> None:
    orders = kafka.topic("orders")
    sender = producer(kafka, **{"transactional.id": "tx"})
    sender.init_transactions()
    sender.begin_transaction()
    sender.produce("orders", b"aborted", partition=0)
    sender.flush()
    with pytest.raises(WaitTimeout) as raised:
        orders.wait_for(value="aborted", timeout=0.05)
    message = str(raised.value)
    assert "These are so, but not committed:\n  <orders-0@0 value=b'aborted' open>" in message
    with pytest.raises(WaitTimeout, match="<transaction 'tx': Ongoing in orders-0>"):
        kafka.wait_idle(timeout=0.05)
    assert orders.wait_for(isolation="read_uncommitted").state == "open"
    sender.abort_transaction()
    kafka.wait_idle()
    sender.begin_transaction()
    sender.produce("orders", b"kept", partition=0)
    sender.commit_transaction()
    assert orders.wait_for().value == b"kept"
    assert_exactly_once(["kept"], orders)
    with pytest.raises(AssertionError, match="read, but aborted: <orders-0@0 value=b'aborted'"):
        assert_exactly_once(["kept"], orders, read=[b"aborted", b"kept"])
    with pytest.raises(AssertionError, match=r"lost: b'aborted' is not committed .* aborted>"):
        assert_exactly_once(["kept", "aborted"], orders)


def test_what_clients_have_read(kafka: Emulator) -> None:
    sender = producer(kafka)
    for number in range(4):
        sender.produce("orders", b"%d" % number)
    sender.flush()
    orders = kafka.topic("orders")
    reader = confluent_kafka.Consumer(
        {
            "bootstrap.servers": kafka.bootstrap_servers,
            "group.id": "g",
            "auto.offset.reset": "earliest",
        }
    )
    reader.subscribe(["orders"])
    messages = reader.consume(4, timeout=30)
    reader.close()
    assert_exactly_once(["0", "1", "2", "3"], orders, read=messages)
    with pytest.raises(AssertionError, match="read 2 times: <orders-"):
        assert_exactly_once(["0", "1", "2", "3"], orders, read=[*messages, messages[0]])


def test_the_twins_beside_aiokafka(kafka: Emulator) -> None:
    """In one loop: a wait that blocked it would wait in vain."""

    async def main() -> None:
        orders, group = kafka.topic("orders"), kafka.group("billing")
        address = kafka.bootstrap_servers
        consumer = aiokafka.AIOKafkaConsumer(
            *("orders",),
            bootstrap_servers=address,
            group_id="billing",
            auto_offset_reset="earliest",
            enable_auto_commit=False,
        )
        sender = aiokafka.AIOKafkaProducer(bootstrap_servers=address)
        await sender.start()
        waiting = asyncio.create_task(orders.await_for(2, key="k"))
        await consumer.start()
        try:
            await group.await_stable(members=1)
            await group.await_assigned("orders")
            for number in range(2):
                await sender.send_and_wait("orders", b"%d" % number, key=b"k")
            assert [each.value for each in await waiting] == [b"0", b"1"]
            await orders.aassert_produced(value="1")
            await orders.aassert_produced_in_order([("k", "0"), ("k", "1")], by_key=True)
            read = [await consumer.getone(), await consumer.getone()]
            assert_exactly_once(["0", "1"], orders, read=read)
            await consumer.commit()
            assert sum((await group.await_consumed("orders")).values()) == 2
            await kafka.await_connected(count=2)
            await kafka.await_idle()
            await orders.aassert_nothing_produced()
        finally:
            await consumer.stop()
            await sender.stop()
        await group.await_empty()

    asyncio.run(main())


def test_fifty_wait_beside_a_producer(kafka: Emulator) -> None:
    orders = kafka.topic("orders")
    found: list[int] = []
    waits = [
        threading.Thread(
            target=lambda number=number: found.append(
                orders.wait_for(json={"n": number}).json()["n"]
            )
        )
        for number in range(0, 1000, 20)
    ]
    for each in waits:
        each.start()
    sender = producer(kafka, **{"linger.ms": 5})
    begin = time.monotonic()
    for number in range(1000):
        sender.produce("orders", json.dumps({"n": number}).encode())
        sender.poll(0)
    sender.flush()
    assert time.monotonic() - begin < 30  # the broker has served it meanwhile
    for each in waits:
        each.join(30)
    assert sorted(found) == list(range(0, 1000, 20))
    assert kafka.run(lambda cluster: cluster.watchers) == []
