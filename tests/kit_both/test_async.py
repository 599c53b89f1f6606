"""The same fixtures in tests that are coroutines, under pytest-asyncio and anyio."""

from __future__ import annotations

import asyncio

import anyio
import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from odradek import Emulator


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def exchange(address: str, topic: str) -> bytes | None:
    """Produce one record, and read it."""
    async with AIOKafkaProducer(bootstrap_servers=address) as producer:
        await producer.send_and_wait(topic, b"espresso")
    async with AIOKafkaConsumer(
        topic, bootstrap_servers=address, auto_offset_reset="earliest"
    ) as consumer:
        found: bytes | None = (await consumer.getone()).value
        return found


@pytest.mark.asyncio
@pytest.mark.kafka(topics={"orders": 2})
async def test_with_pytest_asyncio(kafka: Emulator) -> None:
    orders = kafka.topic("orders")
    async with asyncio.timeout(30):
        assert await exchange(kafka.bootstrap_servers, orders.name) == b"espresso"
    assert orders.values() == [b"espresso"]


@pytest.mark.anyio
async def test_with_anyio(kafka: Emulator) -> None:
    orders = kafka.create_topic("orders")
    with anyio.fail_after(30):
        assert await exchange(kafka.bootstrap_servers, orders.name) == b"espresso"
    assert orders.values() == [b"espresso"]


@pytest.mark.asyncio
async def test_the_session_and_others(kafka_session: Emulator, make_kafka: type[Emulator]) -> None:
    for broker in (kafka_session, make_kafka()):
        orders = broker.unique_topic("orders")
        async with asyncio.timeout(30):
            assert await exchange(broker.bootstrap_servers, orders.name) == b"espresso"
