"""Small applications with each stock client that begin transactions right after each other.

A worker takes a transactional id through so many transactions of ten records, each committed, or
aborted without a flush, as drawn, and counts what its client raises. It gives up at an error that
the client calls fatal, and makes a new producer after any other.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

from odradek.compat.clients.java_client import java_clients
from odradek.compat.java.client import JavaError
from odradek.compat.java.process import to_base64

IDS = 50
ROUNDS = 20
RECORDS = 10
PAUSES_S = (0, 0, 0.0005, 0.001, 0.002, 0.005)
WORKERS = 8
TIMEOUT_S = 30
Outcomes = Counter[str]


def confluent(bootstrap: str, topic: str, name: str, random: Random) -> Outcomes:
    from confluent_kafka import KafkaException, Producer

    quiet: dict[str, Any] = {"logger": _Silent(), "error_cb": lambda error: None}
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": name, **quiet})
    producer.init_transactions(TIMEOUT_S)
    seen: Outcomes = Counter()
    for _ in range(ROUNDS):
        what = random.choice(("commit", "abort"))
        try:
            producer.begin_transaction()
            for _ in range(RECORDS):
                producer.produce(topic, b"x", partition=0)
            if what == "commit":
                producer.commit_transaction(TIMEOUT_S)
            else:
                time.sleep(random.choice(PAUSES_S))
                producer.abort_transaction(TIMEOUT_S)
            seen[what] += 1
        except KafkaException as error:
            found = error.args[0]
            seen[f"{what}: {'fatal ' if found.fatal() else ''}{found.name()}"] += 1
            break
    return seen


class _Silent:
    """A logger for what librdkafka would print."""

    def log(self, *_: object) -> None:
        """Nothing is printed: the error is counted."""


def kafka_python(bootstrap: str, topic: str, name: str, random: Random) -> Outcomes:
    from kafka import KafkaProducer
    from kafka.errors import KafkaError

    producer = KafkaProducer(bootstrap_servers=bootstrap, transactional_id=name)
    producer.init_transactions()
    seen: Outcomes = Counter()
    for _ in range(ROUNDS):
        what = random.choice(("commit", "abort"))
        try:
            producer.begin_transaction()
            for _ in range(RECORDS):
                producer.send(topic, b"x", partition=0)
            if what == "commit":
                producer.commit_transaction()
            else:
                time.sleep(random.choice(PAUSES_S))
                producer.abort_transaction()
            seen[what] += 1
        except (KafkaError, AssertionError) as error:
            seen[f"{what}: {type(error).__name__}"] += 1
            break
    producer.close(timeout=1)
    return seen


def aiokafka(bootstrap: str, topic: str, name: str, random: Random) -> Outcomes:
    """With aiokafka, on an event loop of the worker's own."""
    return asyncio.run(_aiokafka(bootstrap, topic, name, random))


async def _aiokafka(bootstrap: str, topic: str, name: str, random: Random) -> Outcomes:
    from aiokafka import AIOKafkaProducer
    from aiokafka.errors import KafkaError

    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, transactional_id=name)
    await producer.start()
    seen: Outcomes = Counter()
    for _ in range(ROUNDS):
        what = random.choice(("commit", "abort"))
        try:
            await producer.begin_transaction()
            for _ in range(RECORDS):
                await producer.send(topic, b"x", partition=0)
            if what == "commit":
                await asyncio.wait_for(producer.commit_transaction(), TIMEOUT_S)
            else:
                await asyncio.sleep(random.choice(PAUSES_S))
                await asyncio.wait_for(producer.abort_transaction(), TIMEOUT_S)
            seen[what] += 1
        except (KafkaError, TimeoutError) as error:
            seen[f"{what}: {type(error).__name__}"] += 1
            break
    await asyncio.wait([asyncio.ensure_future(producer.stop())], timeout=1)
    return seen


def java(bootstrap: str, topic: str, name: str, random: Random) -> Outcomes:
    """With Kafka's own Java client."""
    producer = java_clients().producer(
        {"bootstrap.servers": bootstrap, "transactional.id": name, "acks": "all"}
    )
    producer.do("init_transactions")
    rows = [{"value": to_base64(b"x"), "key": None, "headers": [], "partition": 0}] * RECORDS
    seen: Outcomes = Counter()
    for _ in range(ROUNDS):
        what = random.choice(("commit", "abort"))
        try:
            producer.do("begin_transaction")
            producer.do("send", topic=topic, records=rows, later=True)
            if what == "commit":
                producer.do("commit_transaction")
            else:
                time.sleep(random.choice(PAUSES_S))
                producer.do("abort_transaction")
            seen[what] += 1
        except JavaError as error:
            seen[f"{what}: {error.kind}"] += 1
            break
    producer.close(1000)
    return seen


APPS: dict[str, Callable[[str, str, str, Random], Outcomes]] = {
    "aiokafka": aiokafka,
    "kafka-python": kafka_python,
    "confluent-kafka": confluent,
    "java": java,
}


def transactions(client: str, bootstrap: str, topic: str, ids: int = IDS) -> Outcomes:
    """What became of the transactions of so many ids, on a topic that is ready."""
    total: Outcomes = Counter()
    with ThreadPoolExecutor(WORKERS) as pool:
        names = [f"{client}-{number}" for number in range(ids)]
        work = [
            pool.submit(APPS[client], bootstrap, topic, name, Random(number))
            for number, name in enumerate(names)
        ]
        for each in work:
            total += each.result()
    return total
