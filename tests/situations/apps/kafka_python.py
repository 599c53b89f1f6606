"""kafka-python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import kafka
from kafka.errors import KafkaError, KafkaTimeoutError
from odradek.compat.clients.time_limits import within

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
    PLAIN: {"acks": "all", "enable_idempotence": False},
    IDEMPOTENT: {"enable_idempotence": True},
    TRANSACTIONAL: {"transactional_id": TRANSACTIONAL_ID},
}
_START_S = 45.0
_CLOSE_S = 2.0


def _do(where: str, work: Callable[[], Any], seconds: float = _START_S) -> Any:
    try:
        return within(seconds, where, work)
    except (KafkaError, AssertionError, ValueError) as error:
        raise ClientRaised(type(error).__name__, where) from None
    except TimeoutError:
        raise NoOutcome from None


class Producer(ProducerApp):
    def __init__(self, bootstrap: str, kind: str) -> None:
        self._producer = _do(
            "KafkaProducer()",
            lambda: kafka.KafkaProducer(bootstrap_servers=bootstrap, **_SETTINGS[kind]),
        )
        if kind == TRANSACTIONAL:
            _do("init_transactions()", self._producer.init_transactions)

    def send(self, value: bytes, seconds: float) -> None:
        future = _do("send()", lambda: self._producer.send(TOPIC, value), seconds)
        try:
            future.get(timeout=seconds)
        except KafkaTimeoutError as error:
            if not future.is_done:
                raise NoOutcome from None
            raise ClientRaised(type(error).__name__, "send().get()") from None
        except KafkaError as error:
            raise ClientRaised(type(error).__name__, "send().get()") from None

    def begin(self) -> None:
        _do("begin_transaction()", self._producer.begin_transaction)

    def commit(self, seconds: float) -> None:
        _do("commit_transaction()", self._producer.commit_transaction, seconds)

    def abort(self, seconds: float) -> None:
        _do("abort_transaction()", self._producer.abort_transaction, seconds)

    def close(self) -> None:
        self._producer.close(timeout=_CLOSE_S)


class Consumer(ConsumerApp):
    def __init__(self, bootstrap: str) -> None:
        self._consumer = _do(
            "KafkaConsumer()",
            lambda: kafka.KafkaConsumer(
                TOPIC,
                bootstrap_servers=bootstrap,
                group_id=GROUP,
                auto_offset_reset="earliest",
                enable_auto_commit=False,
                max_poll_records=BATCH,
            ),
        )

    def poll(self, seconds: float) -> list[bytes]:
        batches = _do("poll()", lambda: self._consumer.poll(timeout_ms=int(seconds * 1000)))
        return [each.value for records in batches.values() for each in records]

    def commit(self, seconds: float) -> None:
        _do("commit()", self._consumer.commit, seconds)

    def close(self) -> None:
        self._consumer.close(autocommit=False, timeout_ms=int(_CLOSE_S * 1000))


class KafkaPython(Apps):
    name = "kafka-python"
    version = kafka.__version__

    def producer(self, bootstrap: str, kind: str) -> ProducerApp:
        return Producer(bootstrap, kind)

    def consumer(self, bootstrap: str) -> ConsumerApp:
        return Consumer(bootstrap)
