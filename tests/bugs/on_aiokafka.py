"""Bugs of services in asyncio, with aiokafka, and services without them."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.errors import CommitFailedError, KafkaError

from tests.bugs.parts import INVOICES, ORDERS

_MOST = 8


async def _clients(servers: str, **more: Any) -> tuple[Any, Any]:
    config: dict[str, Any] = {
        "group_id": "app",
        "auto_offset_reset": "earliest",
        "enable_auto_commit": False,
        "isolation_level": "read_committed",
        "heartbeat_interval_ms": 100,
        "fetch_max_wait_ms": 20,
        "retry_backoff_ms": 10,
    }
    consumer = AIOKafkaConsumer(ORDERS, bootstrap_servers=servers, **{**config, **more})
    producer = AIOKafkaProducer(
        bootstrap_servers=servers, enable_idempotence=True, retry_backoff_ms=10
    )
    await producer.start()
    await consumer.start()
    return consumer, producer


def _invoice(record: Any) -> dict[str, Any] | None:
    """As arguments of send(); None for what is no order: poison, a tombstone."""
    try:
        order = json.loads(record.value or b"null")
    except ValueError:
        return None
    if not isinstance(order, dict):
        return None
    value = json.dumps({"id": order["id"], "paid": order["amount"]}).encode()
    return {"topic": INVOICES, "key": record.key, "value": value}


async def _write(producer: Any, record: Any) -> None:
    invoice = _invoice(record)
    if invoice is not None:
        await producer.send_and_wait(**invoice)


async def _commit(consumer: Any, record: Any) -> None:
    """What is refused is read again by somebody."""
    place = TopicPartition(record.topic, record.partition)
    try:
        await consumer.commit({place: record.offset + 1})
    except (CommitFailedError, KafkaError) as error:
        print("not committed:", error)


async def _copy(servers: str, **more: Any) -> None:
    """Without a bug."""
    consumer, producer = await _clients(servers, **more)
    async for record in consumer:
        await _write(producer, record)
        await _commit(consumer, record)


async def aiokafka_send_not_awaited(servers: str, right: bool) -> None:
    """send() returns when the record is in a buffer, and a future that nobody awaits."""
    if right:
        await _copy(servers)
    consumer, producer = await _clients(servers)
    async for record in consumer:
        invoice = _invoice(record)
        if invoice is not None:
            await producer.send(**invoice)
        await _commit(consumer, record)


async def aiokafka_a_task_for_each(servers: str, right: bool) -> None:
    """create_task(), and what was read is committed by itself meanwhile."""
    if right:
        await _copy(servers)
    automatic = {"enable_auto_commit": True, "auto_commit_interval_ms": 30}
    consumer, producer = await _clients(servers, **automatic)
    tasks: set[asyncio.Task[None]] = set()

    async def work(record: Any) -> None:
        await asyncio.sleep(0.1)
        await _write(producer, record)

    async for record in consumer:
        task = asyncio.create_task(work(record))
        tasks.add(task)
        task.add_done_callback(tasks.discard)


async def aiokafka_errors_gathered(servers: str, right: bool) -> None:
    """gather(return_exceptions=True), and the batch is committed."""
    consumer, producer = await _clients(servers)
    while True:
        batches = await consumer.getmany(timeout_ms=100, max_records=_MOST)
        records = [each for batch in batches.values() for each in batch]
        writes = (_write(producer, each) for each in records)
        results = await asyncio.gather(*writes, return_exceptions=True)
        for each in results:
            if isinstance(each, Exception):
                if right:
                    raise each
                print("not written:", each)
        for batch in batches.values():
            await _commit(consumer, batch[-1])


async def aiokafka_isolation_by_default(servers: str, right: bool) -> None:
    """Consumers of aiokafka read what is not committed, if nobody says otherwise."""
    await _copy(servers, isolation_level="read_committed" if right else "read_uncommitted")


async def aiokafka_latest_by_default(servers: str, right: bool) -> None:
    """A new group begins at the end, if nobody says otherwise."""
    await _copy(servers, auto_offset_reset="earliest" if right else "latest")
