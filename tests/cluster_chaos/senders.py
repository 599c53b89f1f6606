"""A producer of each stock client that lives long, with its client's own defaults.

`send` waits for the outcome of each record, and raises nothing for one that fails. Verbs of
transactions raise what the client raises. Limits of time are lower than the clients' own, so that
what is stuck ends: kafka-python 3.0.12 forgets a request to a coordinator that is gone when it is
sent, with a real Kafka too. Its records expire then, and no abort ends: another producer has to.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from odradek.compat.clients import within
from odradek.compat.clients.java_client import java_clients
from odradek.compat.java.client import JavaError
from odradek.compat.java.process import to_base64

LIMIT_S = 80.0
STUCK_S = 10.0
CLOSE_S = 5.0

New = tuple[int, bytes]
"""A record's partition and value."""


class Sender(ABC):
    """One producer; acks=all."""

    def __init__(
        self, bootstrap: str, *, idempotent: bool = True, transactional_id: str | None = None
    ) -> None:
        self.bootstrap = bootstrap
        self.idempotent = idempotent
        self.transactional_id = transactional_id
        self.open()

    @abstractmethod
    def open(self) -> None:
        """Make the producer; with a transactional id, also begin anew with it."""

    @abstractmethod
    def send(self, topic: str, records: Sequence[New]) -> list[str]:
        """Of each record what went wrong, or ""."""

    @abstractmethod
    def begin(self) -> None: ...

    @abstractmethod
    def commit(self) -> None: ...

    @abstractmethod
    def abort(self) -> None: ...

    @abstractmethod
    def close(self) -> None:
        """Let it go, with what it has not sent."""


class Confluent(Sender):
    """librdkafka."""

    def open(self) -> None:
        from confluent_kafka import Producer

        options: dict[str, Any] = {
            "bootstrap.servers": self.bootstrap,
            "enable.idempotence": self.idempotent,
            "acks": "all",
            "message.timeout.ms": int(LIMIT_S * 750),
            "log_level": 0,
        }
        if self.transactional_id is not None:
            options["transactional.id"] = self.transactional_id
        self.producer = Producer(options)
        if self.transactional_id is not None:
            self._again(self.producer.init_transactions, LIMIT_S)

    def send(self, topic: str, records: Sequence[New]) -> list[str]:
        outcomes = ["not told"] * len(records)

        def teller(number: int) -> Any:
            def tell(error: Any, _: Any) -> None:
                outcomes[number] = str(error) if error is not None else ""

            return tell

        for number, (partition, value) in enumerate(records):
            self.producer.produce(topic, value, partition=partition, on_delivery=teller(number))
        self.producer.flush(LIMIT_S)
        return outcomes

    def begin(self) -> None:
        self.producer.begin_transaction()

    def commit(self) -> None:
        self._again(self.producer.commit_transaction, LIMIT_S)

    def abort(self) -> None:
        self._again(self.producer.abort_transaction, LIMIT_S)

    def close(self) -> None:
        self.producer.purge()

    @staticmethod
    def _again(verb: Any, *arguments: Any) -> None:
        """Verbs of transactions are called again when the client says so."""
        from confluent_kafka import KafkaException

        for _ in range(9):
            try:
                verb(*arguments)
            except KafkaException as error:
                if not error.args[0].retriable():
                    raise
            else:
                return
        verb(*arguments)


class KafkaPython(Sender):
    """kafka-python."""

    def open(self) -> None:
        from kafka import KafkaProducer

        self.producer = KafkaProducer(
            bootstrap_servers=self.bootstrap.split(","),
            acks="all",
            enable_idempotence=self.idempotent,
            transactional_id=self.transactional_id,
            delivery_timeout_ms=int(STUCK_S * 1000),
            request_timeout_ms=int(STUCK_S * 500),
            max_block_ms=int(STUCK_S * 1000),
        )
        if self.transactional_id is not None:
            self.producer.init_transactions()

    def send(self, topic: str, records: Sequence[New]) -> list[str]:
        futures = [self._sent(topic, partition, value) for partition, value in records]
        return [future if isinstance(future, str) else _outcome(future) for future in futures]

    def _sent(self, topic: str, partition: int, value: bytes) -> Any:
        from kafka.errors import KafkaError

        try:
            return self.producer.send(topic, value, partition=partition)
        except KafkaError as error:
            return repr(error)

    def begin(self) -> None:
        self.producer.begin_transaction()

    def commit(self) -> None:
        within(STUCK_S, "a commit", self.producer.commit_transaction)

    def abort(self) -> None:
        within(STUCK_S, "an abort", self.producer.abort_transaction)

    def close(self) -> None:
        self.producer.close(timeout=CLOSE_S)


def _outcome(future: Any) -> str:
    from kafka.errors import KafkaError

    try:
        future.get(timeout=LIMIT_S)
    except KafkaError as error:
        return repr(error)
    return ""


class Aiokafka(Sender):
    """aiokafka, with an event loop of its own that runs while a verb does."""

    def open(self) -> None:
        self.runner = asyncio.Runner()
        self._run(self._open())

    async def _open(self) -> None:
        from aiokafka import AIOKafkaProducer

        self.producer = AIOKafkaProducer(
            bootstrap_servers=self.bootstrap.split(","),
            acks="all",
            enable_idempotence=self.idempotent,
            transactional_id=self.transactional_id,
        )
        await self.producer.start()

    def send(self, topic: str, records: Sequence[New]) -> list[str]:
        return list(self._run(self._send(topic, records)))

    async def _send(self, topic: str, records: Sequence[New]) -> list[str]:
        async def one(partition: int, value: bytes) -> str:
            try:
                await self.producer.send_and_wait(topic, value, partition=partition)
            except Exception as error:
                return repr(error)
            return ""

        return await asyncio.gather(*(one(*each) for each in records))

    def begin(self) -> None:
        self._run(self.producer.begin_transaction())

    def commit(self) -> None:
        self._run(self.producer.commit_transaction())

    def abort(self) -> None:
        self._run(self.producer.abort_transaction())

    def close(self) -> None:
        with suppress(Exception):
            self.runner.run(asyncio.wait_for(self.producer.stop(), CLOSE_S))
        self.runner.close()

    def _run(self, work: Any) -> Any:
        return self.runner.run(asyncio.wait_for(work, LIMIT_S))


class Java(Sender):
    """Kafka's own, in one JVM for all."""

    def open(self) -> None:
        config: dict[str, Any] = {
            "bootstrap.servers": self.bootstrap,
            "acks": "all",
            "enable.idempotence": str(self.idempotent).lower(),
            "delivery.timeout.ms": int(LIMIT_S * 750),
        }
        if self.transactional_id is not None:
            config["transactional.id"] = self.transactional_id
        self.producer = java_clients().producer(config)
        if self.transactional_id is not None:
            self.producer.do("init_transactions")

    def send(self, topic: str, records: Sequence[New]) -> list[str]:
        """What fails makes all of them unknown."""
        rows = [
            {"partition": partition, "key": None, "value": to_base64(value), "headers": []}
            for partition, value in records
        ]
        try:
            self.producer.do("send", topic=topic, records=rows)
        except JavaError as error:
            return [str(error)] * len(rows)
        return [""] * len(rows)

    def begin(self) -> None:
        self.producer.do("begin_transaction")

    def commit(self) -> None:
        self.producer.do("commit_transaction")

    def abort(self) -> None:
        self.producer.do("abort_transaction")

    def close(self) -> None:
        with suppress(JavaError):
            self.producer.close(ms=0)


SENDERS: dict[str, type[Sender]] = {
    "aiokafka": Aiokafka,
    "confluent-kafka": Confluent,
    "java": Java,
    "kafka-python": KafkaPython,
}
