"""What the services here are made of: clients with quick settings, and records as they understand
them."""

from __future__ import annotations

import json
import os
from typing import Any

from confluent_kafka import Consumer, KafkaException, Message, Producer

ORDERS, INVOICES, COUNTS = "orders", "invoices", "counts"
_QUICK = {
    "reconnect.backoff.ms": 1,
    "reconnect.backoff.max.ms": 100,
    "retry.backoff.ms": 10,
    "retry.backoff.max.ms": 100,
    "metadata.recovery.strategy": "none",
}


def new_consumer(servers: str, **more: Any) -> Consumer:
    """One of the group."""
    return Consumer(
        {
            **_QUICK,
            "bootstrap.servers": servers,
            "group.id": "app",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "heartbeat.interval.ms": 100,
            "fetch.wait.max.ms": 20,
            "fetch.error.backoff.ms": 10,
            **more,
        }
    )


def new_producer(servers: str, **more: Any) -> Producer:
    """Idempotent, unless something else is said."""
    return Producer(
        {
            **_QUICK,
            "bootstrap.servers": servers,
            "enable.idempotence": True,
            "linger.ms": 0,
            **more,
        }
    )


def new_transactional(servers: str) -> Producer:
    """With an id of this instance's own."""
    its_own = f"app-{os.environ['SERVICE_INSTANCE']}"
    config = {"transactional.id": its_own, "transaction.timeout.ms": 20_000}
    producer = new_producer(servers, **config)
    producer.init_transactions(30)
    return producer


def understood(message: Message) -> dict[str, Any] | None:
    """An order; None for what is none: poison, a tombstone."""
    value = message.value()
    if value is None:
        return None
    try:
        found = json.loads(value)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def taken(consumer: Consumer, seconds: float = 0.1) -> Message | None:
    """The next message. Raises KafkaException for an error, upon which the process ends."""
    message = consumer.poll(seconds)
    if message is not None and message.error():
        raise KafkaException(message.error())
    return message


class Writer:
    """Writes invoices; knows what was refused."""

    def __init__(self, producer: Producer, topic: str = INVOICES) -> None:
        self.producer = producer
        self.errors: list[Any] = []
        self._topic = topic

    def write(self, message: Message, *, keyed: bool = True) -> None:
        """The invoice of an order."""
        order = understood(message)
        if order is not None:
            key = message.key() if keyed else None
            value = json.dumps({"id": order["id"], "paid": order["amount"]})
            self.producer.produce(self._topic, value, key, on_delivery=self._delivered)

    def _delivered(self, error: Any, _: Any) -> None:
        if error is not None:
            self.errors.append(error)

    def flush(self) -> None:
        """Until all is delivered. Raises KafkaException for what was refused."""
        left = self.producer.flush(30)
        if self.errors or left:
            raise KafkaException(*self.errors or ["not delivered"])


def commit(consumer: Consumer, message: Message) -> None:
    """All before this one are done, and it is. What is refused is read again by somebody."""
    try:
        consumer.commit(message, asynchronous=False)
    except KafkaException as error:
        print("not committed:", error)
