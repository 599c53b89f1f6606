"""With kafka-python.

Its consumer may stop for good when a poll ends while its group rebalances, so polls are long, and a
loop that reads nothing makes it anew. Its producer (3.0.12) keeps offsets that were refused to a
transaction, and commits them with the next one: so it is made anew, too."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.errors import KafkaError
from kafka.structs import OffsetAndMetadata
from odradek.compat.clients import within

from tests.schedules.pipes.pipe import (
    BATCH,
    GROUP,
    NAME,
    SESSION_MS,
    SOURCE,
    STEP_S,
    TARGET,
    Batch,
    Broken,
    Failed,
    Pipe,
)

T = TypeVar("T")
_STEP_MS = int(STEP_S * 1000)
_POLL_MS = 1000


class KafkaPython(Pipe):
    """Its steps have no time limit of their own: one that takes too long is left behind."""

    def start(self) -> None:
        self.producer: Any = None
        self.consumer: Any = None
        more: dict[str, Any] = {"enable_idempotence": self.idempotent, "acks": "all"}
        if self.transactional:
            more = {"transactional_id": NAME, "transaction_timeout_ms": 20_000}
        self._consumed(lambda: self._connect(more))

    def _connect(self, more: dict[str, Any]) -> None:
        self.producer = KafkaProducer(
            **self.kafka.client_config("kafka-python", "producer"),
            max_block_ms=_STEP_MS,
            request_timeout_ms=5000,
            delivery_timeout_ms=_STEP_MS,
            **more,
        )
        if self.transactional:
            within(STEP_S, "init_transactions", self.producer.init_transactions)
        self.consumer = KafkaConsumer(
            SOURCE,
            **self.kafka.client_config("kafka-python", "consumer"),
            group_id=GROUP,
            session_timeout_ms=SESSION_MS,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            isolation_level="read_committed",
        )

    def poll(self) -> Batch | None:
        found = self._consumed(lambda: self.consumer.poll(_POLL_MS, max_records=BATCH))
        records = [record for each in found.values() for record in each]
        if not records:
            return None
        positions = {each.partition: each.offset + 1 for each in records}
        return Batch([each.value for each in records], positions)

    def begin(self) -> None:
        self._step(self.producer.begin_transaction)

    def send(self, values: list[bytes]) -> None:
        def sent() -> None:
            futures = [self.producer.send(TARGET, value) for value in values]
            self.producer.flush(STEP_S)
            for each in futures:
                each.get(STEP_S)

        self._step(sent)

    def send_offsets(self, positions: dict[int, int]) -> None:
        metadata = self.consumer.group_metadata()
        send = self.producer.send_offsets_to_transaction
        try:
            self._step(lambda: send(_places(positions), metadata))
        except Failed as error:
            raise Broken(str(error)) from error

    def commit(self) -> None:
        self._step(self.producer.commit_transaction)

    def abort(self) -> None:
        self._step(self.producer.abort_transaction)

    def commit_offsets(self, positions: dict[int, int]) -> None:
        self._consumed(lambda: self.consumer.commit(_places(positions)))

    def rewind(self) -> None:
        def back() -> None:
            for place in self.consumer.assignment():
                offset = self.consumer.committed(place)
                if offset is None:
                    self.consumer.seek_to_beginning(place)
                else:
                    self.consumer.seek(place, offset)

        self._consumed(back)

    def _step(self, step: Callable[[], T]) -> T:
        """Of the producer, whose transactions have no time limit."""
        return self._consumed(lambda: within(STEP_S, "a step of kafka-python", step))

    def _consumed(self, step: Callable[[], T]) -> T:
        """Of the consumer, which is used by one thread alone."""
        try:
            return step()
        except TimeoutError as error:
            raise Broken(str(error)) from error
        except (KafkaError, AssertionError) as error:
            kind = Failed if self.transactional else Broken
            raise kind(repr(error)) from error

    def stop(self) -> None:
        self._consumed(lambda: self.consumer.close(autocommit=False))
        self._step(lambda: self.producer.close(timeout=STEP_S))

    def drop(self) -> None:
        with suppress(Failed, Broken):
            if self.producer is not None:
                self._step(lambda: self.producer.close(timeout=0))
        with suppress(Failed, Broken):
            if self.consumer is not None:
                self._consumed(lambda: self.consumer.close(autocommit=False))


def _places(positions: dict[int, int]) -> dict[Any, Any]:
    return {
        TopicPartition(SOURCE, index): OffsetAndMetadata(offset, "", -1)
        for index, offset in positions.items()
    }
