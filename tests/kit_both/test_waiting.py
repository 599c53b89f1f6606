"""Waits and assertions: on an emulator by what happens there, on a real Kafka by asking again."""

from __future__ import annotations

import asyncio
from threading import Timer

import pytest
from odradek import Emulator, WaitTimeout, assert_exactly_once
from odradek.compat import Client, NewRecord

pytestmark = pytest.mark.kafka(topics={"orders": 2})
SOON_S = 0.2


def test_the_option_is_the_timeout(kafka: Emulator, request: pytest.FixtureRequest) -> None:
    assert kafka.timeout == float(request.config.getoption("kafka_timeout") or 10)


def test_a_number_of_records(kafka: Emulator, stock: Client) -> None:
    orders, address = kafka.topic("orders"), kafka.bootstrap_servers
    sent = [NewRecord(b"%d" % n) for n in range(3)]
    Timer(SOON_S, stock.produce, (address, orders.name, sent)).start()
    assert len(orders.wait_for(3)) == 3


def test_a_record(kafka: Emulator) -> None:
    orders = kafka.topic("orders")
    Timer(SOON_S, orders.produce, ({"n": 7, "more": 1}, "a")).start()
    record = orders.wait_for(key="a", json={"n": 7})
    assert (record.key, record.json()) == (b"a", {"n": 7, "more": 1})


def test_a_record_that_does_not_come(kafka: Emulator) -> None:
    orders = kafka.topic("orders")
    orders.produce("this", key="a")
    with pytest.raises(WaitTimeout, match=r"waited 0.2 s for .*that"):
        orders.wait_for(value="that", timeout=0.2)


def test_assertions(kafka: Emulator, stock: Client) -> None:
    orders, address = kafka.topic("orders"), kafka.bootstrap_servers
    sent = [NewRecord(b'{"n": 1}', b"a"), NewRecord(b'{"n": 2}', b"a")]
    stock.produce(address, orders.name, sent)
    orders.assert_produced(key="a", json={"n": 2})
    orders.assert_produced_in_order([("a", {"n": 1}), ("a", {"n": 2})], by_key=True)
    orders.assert_nothing_produced(within=0.1)
    assert_exactly_once([each.value for each in sent], orders)
    with pytest.raises(AssertionError, match=orders.name):
        orders.assert_produced(json={"n": 3}, within=0)


def test_a_group(kafka: Emulator, stock: Client) -> None:
    orders, group = kafka.topic("orders"), kafka.group("billing")
    orders.produce_all(["a", "b", "c"])
    with pytest.raises(WaitTimeout, match="group 'billing' to be stable"):
        group.wait_stable(members=1, timeout=0.1)
    stock.consume(kafka.bootstrap_servers, orders.name, group="billing")
    assert group.wait_consumed("orders") == {(orders.name, 0): 2, (orders.name, 1): 1}
    group.wait_empty()
    group.assert_committed({("orders", 0): 2, (orders.name, 1): 1})
    with pytest.raises(AssertionError, match=f"{orders.name}-0"):
        group.assert_committed({("orders", 0): 7}, within=0)


def test_members(kafka: Emulator) -> None:
    from confluent_kafka import Consumer

    orders, group = kafka.topic("orders"), kafka.group("billing")
    address = {"bootstrap.servers": kafka.bootstrap_servers, "group.id": "billing"}
    consumer = Consumer(address)
    consumer.subscribe([orders.name])
    consumer.poll(0)
    assert len(group.wait_stable(members=1)) == 1
    (member,) = group.wait_assigned("orders")
    assert member.assignment == ((orders.name, 0), (orders.name, 1))
    consumer.close()
    group.wait_empty()


@pytest.mark.asyncio
async def test_in_a_coroutine_the_loop_goes_on(kafka: Emulator) -> None:
    orders, group = kafka.topic("orders"), kafka.group("billing")
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0.01)
            turns += 1

    counting = asyncio.create_task(count())
    Timer(SOON_S, orders.produce, ("a",)).start()
    assert len(await orders.await_for(1)) == 1
    with pytest.raises(WaitTimeout):
        await orders.await_for(2, timeout=SOON_S)
    await orders.aassert_produced(value="a")
    await group.await_empty()
    counting.cancel()
    assert turns >= 5
