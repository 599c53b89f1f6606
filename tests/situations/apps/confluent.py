"""confluent-kafka: errors of records come to the delivery callback."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

import confluent_kafka
from confluent_kafka import KafkaError, KafkaException

from tests.situations.apps.app import (
    BATCH,
    DEFAULT,
    GROUP,
    IDEMPOTENT,
    PLAIN,
    TOPIC,
    TRANSACTIONAL,
    TRANSACTIONAL_ID,
    Apps,
    ClientRaised,
    ConsumerApp,
    NoOutcome,
    ProducerApp,
)

_SETTINGS: dict[str, dict[str, Any]] = {
    DEFAULT: {},
    PLAIN: {"enable.idempotence": False},
    IDEMPOTENT: {"enable.idempotence": True},
    TRANSACTIONAL: {"transactional.id": TRANSACTIONAL_ID},
}
_START_S = 30.0


class _Silent:
    """A logger for what librdkafka would print."""

    def log(self, *_: object) -> None:
        """Nothing is printed."""


def _quiet(bootstrap: str) -> dict[str, Any]:
    return {"bootstrap.servers": bootstrap, "logger": _Silent()}


def _raised(error: KafkaError, where: str) -> ClientRaised:
    return ClientRaised(f"{error.name()}{' (fatal)' if error.fatal() else ''}", where)


class Producer(ProducerApp):
    def __init__(self, bootstrap: str, kind: str) -> None:
        self._producer = confluent_kafka.Producer({**_quiet(bootstrap), **_SETTINGS[kind]})
        if kind == TRANSACTIONAL:
            self._do("init_transactions", _START_S)

    def send(self, value: bytes, seconds: float) -> None:
        received: list[KafkaError | None] = []
        try:
            self._producer.produce(
                TOPIC, value, on_delivery=lambda error, _: received.append(error)
            )
        except KafkaException as error:
            raise _raised(error.args[0], "produce()") from None
        end = time.monotonic() + seconds
        while not received:
            if time.monotonic() > end:
                raise NoOutcome
            try:
                self._producer.poll(0.05)
            except KafkaException as error:
                raise _raised(error.args[0], "poll()") from None
        if received[0] is not None:
            raise _raised(received[0], "the delivery callback")

    def begin(self) -> None:
        self._do("begin_transaction")

    def commit(self, seconds: float) -> None:
        self._do("commit_transaction", seconds)

    def abort(self, seconds: float) -> None:
        self._do("abort_transaction", seconds)

    def _do(self, verb: str, *seconds: float) -> None:
        try:
            getattr(self._producer, verb)(*seconds)
        except KafkaException as error:
            found = error.args[0]
            if found.code() == KafkaError._TIMED_OUT and seconds:
                raise NoOutcome from None
            raise _raised(found, f"{verb}()") from None

    def close(self) -> None:
        self._producer.purge(in_flight=True)
        with suppress(KafkaException):  # said already
            self._producer.flush(1)


class Consumer(ConsumerApp):
    def __init__(self, bootstrap: str) -> None:
        self._consumer = confluent_kafka.Consumer(
            {
                **_quiet(bootstrap),
                "group.id": GROUP,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
            }
        )
        self._consumer.subscribe([TOPIC])

    def poll(self, seconds: float) -> list[bytes]:
        values = []
        # It waits for as many as it is asked for: for one, and then for none.
        messages = self._consumer.consume(1, seconds)
        messages += self._consumer.consume(BATCH - len(messages), 0) if messages else []
        for message in messages:
            error = message.error()
            if error is not None:
                raise _raised(error, "consume()")
            values.append(message.value())
        return values

    def commit(self, seconds: float) -> None:
        try:
            self._consumer.commit(asynchronous=False)
        except KafkaException as error:
            raise _raised(error.args[0], "commit()") from None

    def close(self) -> None:
        self._consumer.close()


class Confluent(Apps):
    name = "confluent-kafka"
    version = f"{confluent_kafka.version()}"

    def producer(self, bootstrap: str, kind: str) -> ProducerApp:
        return Producer(bootstrap, kind)

    def consumer(self, bootstrap: str) -> ConsumerApp:
        return Consumer(bootstrap)
