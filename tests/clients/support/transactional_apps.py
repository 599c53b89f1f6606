"""Consume, transform, produce, in a transaction: the same small application for each Python client.

    python -m tests.clients.transformers CLIENT BOOTSTRAP TRANSACTIONAL_ID GROUP SOURCE TARGET COUNT

does the work of one transaction, says "written" and waits to be killed.
"""

from __future__ import annotations

import asyncio
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
TIMEOUT_S = 60.0
POLL_S = 0.2


class Fenced(Exception):
    """Another producer has the transactional id."""


class Transformer(ABC):
    """An application with one partition of a topic to read and one to write.

    It reads from where the group has committed, and commits in the transaction in which it writes.
    """

    def __init__(self, bootstrap: str, name: str, group: str, source: str, target: str) -> None:
        self.bootstrap = bootstrap
        self.name = name
        self.group = group
        self.source = source
        self.target = target
        self.start()

    def work(self, count: int) -> None:
        """Open a transaction and take so many records through it, offsets included."""
        values, position = self.take(count)
        self.write([value.upper() for value in values], position)

    @abstractmethod
    def start(self) -> None:
        """Connect, and take the transactional id over."""

    @abstractmethod
    def take(self, count: int) -> tuple[list[bytes], int]:
        """Values from the group's position on, and the position behind them."""

    @abstractmethod
    def write(self, values: list[bytes], position: int) -> None:
        """Begin, write, commit the position in the transaction; all of it acknowledged.

        Raises Fenced.
        """

    @abstractmethod
    def end(self, commit: bool) -> None:
        """End the transaction. Raises Fenced."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the connections, whatever state they are in."""


class Confluent(Transformer):
    """With confluent-kafka."""

    def start(self) -> None:
        from confluent_kafka import Consumer, Producer

        self.producer = Producer(
            {
                "bootstrap.servers": self.bootstrap,
                "transactional.id": self.name,
                # librdkafka 2.x waits for ever to commit offsets in a transaction once it has lost
                # its only broker and begun anew from its bootstrap servers.
                "metadata.recovery.strategy": "none",
                "reconnect.backoff.max.ms": 200,
            }
        )
        self.producer.init_transactions(TIMEOUT_S)
        self.consumer = Consumer(
            {
                "bootstrap.servers": self.bootstrap,
                "group.id": self.group,
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed",
                "reconnect.backoff.max.ms": 200,
            }
        )

    def take(self, count: int) -> tuple[list[bytes], int]:
        from confluent_kafka import TopicPartition

        place = TopicPartition(self.source, 0)
        (committed,) = self.consumer.committed([place], TIMEOUT_S)
        begin = max(committed.offset, 0)
        self.consumer.assign([TopicPartition(self.source, 0, begin)])
        messages = []
        end = time.monotonic() + TIMEOUT_S
        while len(messages) < count and time.monotonic() < end:
            messages += self.consumer.consume(count - len(messages), POLL_S)
        assert len(messages) == count
        return [message.value() for message in messages], messages[-1].offset() + 1

    def write(self, values: list[bytes], position: int) -> None:
        from confluent_kafka import TopicPartition

        self._fenced(self.producer.begin_transaction)
        for value in values:
            self.producer.produce(self.target, value, partition=0)
        self.producer.flush(TIMEOUT_S)
        offsets = [TopicPartition(self.source, 0, position)]
        metadata = self.consumer.consumer_group_metadata()
        self._fenced(self.producer.send_offsets_to_transaction, offsets, metadata, TIMEOUT_S)

    def end(self, commit: bool) -> None:
        producer = self.producer
        self._fenced(producer.commit_transaction if commit else producer.abort_transaction)

    def close(self) -> None:
        self.consumer.close()

    def _fenced(self, step: Any, *arguments: Any) -> None:
        from confluent_kafka import KafkaError, KafkaException

        codes = (
            KafkaError._FENCED,
            KafkaError.PRODUCER_FENCED,
            KafkaError.INVALID_PRODUCER_EPOCH,
        )
        try:
            step(*arguments)
        except KafkaException as error:
            if error.args[0].code() in codes:
                raise Fenced from error
            raise


class KafkaPython(Transformer):
    """With kafka-python."""

    def start(self) -> None:
        from kafka import KafkaConsumer, KafkaProducer

        self.producer = KafkaProducer(
            bootstrap_servers=self.bootstrap, transactional_id=self.name, acks="all"
        )
        self.producer.init_transactions()
        self.consumer = KafkaConsumer(
            bootstrap_servers=self.bootstrap,
            group_id=self.group,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            isolation_level="read_committed",
        )

    def take(self, count: int) -> tuple[list[bytes], int]:
        from kafka import TopicPartition

        place = TopicPartition(self.source, 0)
        self.consumer.assign([place])
        self.consumer.seek(place, self.consumer.committed(place) or 0)
        records: list[Any] = []
        end = time.monotonic() + TIMEOUT_S
        while len(records) < count and time.monotonic() < end:
            found = self.consumer.poll(POLL_S * 1000, max_records=count - len(records))
            records += found.get(place, [])
        assert len(records) == count
        return [record.value for record in records], records[-1].offset + 1

    def write(self, values: list[bytes], position: int) -> None:
        from kafka import TopicPartition
        from kafka.structs import OffsetAndMetadata

        self._fenced(self.producer.begin_transaction)
        for value in values:
            self.producer.send(self.target, value, partition=0)
        self._fenced(self.producer.flush, TIMEOUT_S)
        offsets = {TopicPartition(self.source, 0): OffsetAndMetadata(position, "", -1)}
        self._fenced(self.producer.send_offsets_to_transaction, offsets, self.group)

    def end(self, commit: bool) -> None:
        producer = self.producer
        self._fenced(producer.commit_transaction if commit else producer.abort_transaction)

    def close(self) -> None:
        self.consumer.close()
        self.producer.close(timeout=1)

    def _fenced(self, step: Any, *arguments: Any) -> None:
        from kafka.errors import InvalidProducerEpochError, KafkaError, ProducerFencedError

        try:
            step(*arguments)
        except (ProducerFencedError, InvalidProducerEpochError) as error:
            raise Fenced from error
        except KafkaError as error:
            if "Fenced" in repr(error) or "ProducerEpoch" in repr(error):
                raise Fenced from error
            raise


class Aiokafka(Transformer):
    """With aiokafka, on an event loop that runs while a step is taken."""

    def start(self) -> None:
        self.runner = asyncio.Runner()
        self._run(self._start())

    async def _start(self) -> None:
        from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

        self.place = TopicPartition(self.source, 0)
        self.producer = AIOKafkaProducer(
            bootstrap_servers=self.bootstrap, transactional_id=self.name
        )
        self.consumer = AIOKafkaConsumer(
            bootstrap_servers=self.bootstrap,
            group_id=self.group,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            isolation_level="read_committed",
        )
        await self.producer.start()
        await self.consumer.start()

    def take(self, count: int) -> tuple[list[bytes], int]:
        return self._run(self._take(count))

    async def _take(self, count: int) -> tuple[list[bytes], int]:
        self.consumer.assign([self.place])
        self.consumer.seek(self.place, await self.consumer.committed(self.place) or 0)
        records = [await self.consumer.getone() for _ in range(count)]
        return [record.value for record in records], records[-1].offset + 1

    def write(self, values: list[bytes], position: int) -> None:
        self._run(self._write(values, position))

    async def _write(self, values: list[bytes], position: int) -> None:
        await self.producer.begin_transaction()
        for value in values:
            await self.producer.send_and_wait(self.target, value, partition=0)
        await self.producer.send_offsets_to_transaction({self.place: position}, self.group)

    def end(self, commit: bool) -> None:
        producer = self.producer
        self._run(producer.commit_transaction() if commit else producer.abort_transaction())

    def close(self) -> None:
        self.runner.run(self._close())
        self.runner.close()

    async def _close(self) -> None:
        await self.consumer.stop()
        # A producer that cannot end its transaction waits for ever to be stopped.
        await asyncio.wait([asyncio.ensure_future(self.producer.stop())], timeout=1)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        from aiokafka.errors import InvalidProducerEpoch, ProducerFenced

        try:
            return self.runner.run(asyncio.wait_for(work, TIMEOUT_S))
        except (ProducerFenced, InvalidProducerEpoch) as error:
            raise Fenced from error


TRANSFORMERS: dict[str, type[Transformer]] = {
    "aiokafka": Aiokafka,
    "confluent-kafka": Confluent,
    "kafka-python": KafkaPython,
}


def main() -> None:
    """One transaction's work, and then nothing more."""
    client, bootstrap, name, group, source, target, count = sys.argv[1:]
    TRANSFORMERS[client](bootstrap, name, group, source, target).work(int(count))
    print("written", flush=True)
    time.sleep(TIMEOUT_S)


if __name__ == "__main__":
    main()
