"""Kafka's own Java client."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from odradek.compat.clients.java_client import java_clients
from odradek.compat.clients.time_limits import within
from odradek.compat.java.client import JavaError, JavaThing
from odradek.compat.java.process import from_base64, to_base64
from odradek.compat.real_kafka import VERSION

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
    PLAIN: {"enable.idempotence": "false"},
    IDEMPOTENT: {"enable.idempotence": "true"},
    TRANSACTIONAL: {"transactional.id": TRANSACTIONAL_ID},
}
_LIMIT_S = 80.0
_CLOSE_MS = 0


def _do(
    thing: JavaThing, where: str, verb: str, seconds: float = _LIMIT_S, **more: Any
) -> dict[str, Any]:
    work: Callable[[], dict[str, Any]] = lambda: thing.do(verb, **more)  # noqa: E731
    try:
        return within(seconds, where, work)
    except JavaError as error:
        raise ClientRaised(error.kind, where) from None
    except TimeoutError:
        raise NoOutcome from None


class Producer(ProducerApp):
    def __init__(self, bootstrap: str, kind: str) -> None:
        config = {"bootstrap.servers": bootstrap, **_SETTINGS[kind]}
        self._producer = java_clients().producer(config)
        self._sent = 0
        if kind == TRANSACTIONAL:
            _do(self._producer, "initTransactions()", "init_transactions")

    def send(self, value: bytes, seconds: float) -> None:
        end = time.monotonic() + seconds
        rows = [{"value": to_base64(value), "key": None, "headers": [], "partition": None}]
        _do(self._producer, "send()", "send", seconds, topic=TOPIC, records=rows, later=True)
        number, self._sent = self._sent, self._sent + 1
        while True:
            outcome = _do(self._producer, "send()", "outcomes")["outcomes"][number]
            if outcome is not None:
                break
            if time.monotonic() > end:
                raise NoOutcome
            time.sleep(0.01)
        if isinstance(outcome[0], str):
            raise ClientRaised(outcome[0], "send().get()")

    def begin(self) -> None:
        _do(self._producer, "beginTransaction()", "begin_transaction")

    def commit(self, seconds: float) -> None:
        _do(self._producer, "commitTransaction()", "commit_transaction", seconds)

    def abort(self, seconds: float) -> None:
        _do(self._producer, "abortTransaction()", "abort_transaction", seconds)

    def close(self) -> None:
        self._producer.close(_CLOSE_MS)


class Consumer(ConsumerApp):
    def __init__(self, bootstrap: str) -> None:
        self._consumer = java_clients().consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": GROUP,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": "false",
                "max.poll.records": BATCH,
            }
        )
        self._consumer.do("subscribe", topics=[TOPIC])

    def poll(self, seconds: float) -> list[bytes]:
        found = _do(self._consumer, "poll()", "poll", ms=int(seconds * 1000))
        return [from_base64(row["value"]) or b"" for row in found["records"]]

    def commit(self, seconds: float) -> None:
        _do(self._consumer, "commitSync()", "commit", seconds)

    def close(self) -> None:
        self._consumer.close(1000)


class Java(Apps):
    name = "java"
    version = VERSION

    def producer(self, bootstrap: str, kind: str) -> ProducerApp:
        return Producer(bootstrap, kind)

    def consumer(self, bootstrap: str) -> ConsumerApp:
        return Consumer(bootstrap)
