"""With confluent-kafka (librdkafka)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)

from tests.schedules.pipes.pipe import (
    BATCH,
    GROUP,
    NAME,
    POLL_S,
    SESSION_MS,
    SOURCE,
    STEP_S,
    TARGET,
    Batch,
    Broken,
    Failed,
    Pipe,
)

_TRIES = 5


class Confluent(Pipe):
    """Errors say of themselves whether to retry, to abort or to begin anew."""

    def start(self) -> None:
        self.errors: list[KafkaError] = []
        more: dict[str, Any] = {"enable.idempotence": self.idempotent, "acks": "all"}
        if self.transactional:
            more = {"transactional.id": NAME, "transaction.timeout.ms": 20_000}
        self.producer = Producer(
            {
                **self.kafka.client_config("confluent", "producer"),
                **more,
                # librdkafka 2.x waits for ever to commit offsets in a transaction once it has lost
                # its only broker and begun anew from its bootstrap servers.
                "metadata.recovery.strategy": "none",
                "log_level": 0,
            }
        )
        self.consumer = Consumer(
            {
                **self.kafka.client_config("confluent", "consumer"),
                "group.id": GROUP,
                "session.timeout.ms": SESSION_MS,
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed",
                "metadata.recovery.strategy": "none",
                "log_level": 0,
            }
        )
        if self.transactional:
            self._step(lambda: self.producer.init_transactions(STEP_S))
        self.consumer.subscribe([SOURCE])

    def poll(self) -> Batch | None:
        first = self.consumer.poll(POLL_S)
        if first is None or first.error():
            return None
        found = [first, *self.consumer.consume(BATCH - 1, 0)]
        messages = [each for each in found if not each.error()]
        positions = {each.partition(): each.offset() + 1 for each in messages}
        return Batch([each.value() for each in messages], positions)

    def begin(self) -> None:
        self.errors.clear()
        self._step(self.producer.begin_transaction)

    def send(self, values: list[bytes]) -> None:
        try:
            for value in values:
                self.producer.produce(TARGET, value, on_delivery=self._delivered)
        except KafkaException as error:  # fenced, since the last step
            raise Broken(str(error)) from error
        if not self.transactional and (self.producer.flush(STEP_S) or self.errors):
            raise Broken(f"not delivered: {self.errors}")

    def _delivered(self, error: KafkaError | None, message: Any) -> None:
        if error is not None:
            self.errors.append(error)

    def send_offsets(self, positions: dict[int, int]) -> None:
        metadata = self.consumer.consumer_group_metadata()
        offsets = _places(positions)
        self._step(lambda: self.producer.send_offsets_to_transaction(offsets, metadata, STEP_S))

    def commit(self) -> None:
        self._step(lambda: self.producer.commit_transaction(STEP_S))

    def abort(self) -> None:
        self._step(lambda: self.producer.abort_transaction(STEP_S))

    def commit_offsets(self, positions: dict[int, int]) -> None:
        offsets = _places(positions)
        self._step(lambda: self.consumer.commit(offsets=offsets, asynchronous=False))

    def rewind(self) -> None:
        def back() -> None:
            for each in self.consumer.committed(self.consumer.assignment(), STEP_S):
                offset = each.offset if each.offset >= 0 else OFFSET_BEGINNING
                self.consumer.seek(TopicPartition(each.topic, each.partition, offset))

        self._step(back)

    def _step(self, step: Callable[[], object]) -> None:
        for number in range(1, _TRIES + 1):
            try:
                step()
                return
            except KafkaException as error:
                code = error.args[0]
                if code.retriable() and number < _TRIES:
                    continue
                if code.fatal() or not self.transactional:
                    raise Broken(str(error)) from error
                raise Failed(str(error)) from error

    def stop(self) -> None:
        self.consumer.close()
        self.producer.flush(STEP_S)

    def drop(self) -> None:
        with suppress(KafkaException):  # it is fenced
            self.producer.purge()
            self.producer.flush(0)
        self.consumer.close()


def _places(positions: dict[int, int]) -> list[TopicPartition]:
    return [TopicPartition(SOURCE, index, offset) for index, offset in positions.items()]
