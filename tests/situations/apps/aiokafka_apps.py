"""aiokafka, on an event loop in a thread of its own."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Coroutine
from typing import Any

import aiokafka
from aiokafka.errors import KafkaError

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
    PLAIN: {"acks": "all"},
    IDEMPOTENT: {"enable_idempotence": True},
    TRANSACTIONAL: {"transactional_id": TRANSACTIONAL_ID},
}
_START_S = 45.0
_CLOSE_S = 2.0
_POLL_S = 45.0


@functools.cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda *_: None)
    threading.Thread(target=loop.run_forever, name="aiokafka-loop", daemon=True).start()
    return loop


def _run(work: Coroutine[Any, Any, Any], where: str, seconds: float) -> Any:
    future = asyncio.run_coroutine_threadsafe(asyncio.wait_for(work, seconds), _loop())
    try:
        return future.result(seconds + 10)
    except (KafkaError, AssertionError) as error:
        raise ClientRaised(type(error).__name__, where) from None
    except TimeoutError:
        raise NoOutcome from None


class Producer(ProducerApp):
    def __init__(self, bootstrap: str, kind: str) -> None:
        async def start() -> Any:
            producer = aiokafka.AIOKafkaProducer(bootstrap_servers=bootstrap, **_SETTINGS[kind])
            await producer.start()
            return producer

        self._producer = _run(start(), "start()", _START_S)

    def send(self, value: bytes, seconds: float) -> None:
        _run(self._producer.send_and_wait(TOPIC, value), "send_and_wait()", seconds)

    def begin(self) -> None:
        _run(self._producer.begin_transaction(), "begin_transaction()", _START_S)

    def commit(self, seconds: float) -> None:
        _run(self._producer.commit_transaction(), "commit_transaction()", seconds)

    def abort(self, seconds: float) -> None:
        _run(self._producer.abort_transaction(), "abort_transaction()", seconds)

    def close(self) -> None:
        try:
            _run(self._producer.stop(), "stop()", _CLOSE_S)
        except (ClientRaised, NoOutcome):
            return


class Consumer(ConsumerApp):
    def __init__(self, bootstrap: str) -> None:
        async def start() -> Any:
            consumer = aiokafka.AIOKafkaConsumer(
                TOPIC,
                bootstrap_servers=bootstrap,
                group_id=GROUP,
                auto_offset_reset="earliest",
                enable_auto_commit=False,
            )
            await consumer.start()
            return consumer

        self._consumer = _run(start(), "start()", _START_S)

    def poll(self, seconds: float) -> list[bytes]:
        asked = self._consumer.getmany(timeout_ms=int(seconds * 1000), max_records=BATCH)
        batches = _run(asked, "getmany()", _POLL_S)
        return [each.value for records in batches.values() for each in records]

    def commit(self, seconds: float) -> None:
        _run(self._consumer.commit(), "commit()", seconds)

    def close(self) -> None:
        try:
            _run(self._consumer.stop(), "stop()", _CLOSE_S * 5)
        except (ClientRaised, NoOutcome):
            return


class Aiokafka(Apps):
    name = "aiokafka"
    version = aiokafka.__version__

    def producer(self, bootstrap: str, kind: str) -> ProducerApp:
        return Producer(bootstrap, kind)

    def consumer(self, bootstrap: str) -> ConsumerApp:
        return Consumer(bootstrap)
