"""With Kafka's own Java client."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from odradek.compat.clients.java_client import java_clients
from odradek.compat.java.client import JavaError, JavaThing
from odradek.compat.java.process import from_base64, to_base64

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

_STEP_MS = int(STEP_S * 1000)
# As the documentation of KafkaProducer has it: nothing is left to do but to close it.
_FATAL = (
    "ProducerFencedException",
    "FencedInstanceIdException",
    "OutOfOrderSequenceException",
    "AuthorizationException",
    "UnsupportedVersionException",
    "IllegalStateException",
    "TimeoutException",  # whether it was carried out is not known
)


class Java(Pipe):
    """The classes of exceptions say whether to abort or to begin anew."""

    def start(self) -> None:
        self.producer: JavaThing | None = None
        self.consumer: JavaThing | None = None
        more: dict[str, Any] = {"enable.idempotence": str(self.idempotent).lower(), "acks": "all"}
        if self.transactional:
            more = {"transactional.id": NAME, "transaction.timeout.ms": 20_000}
        self.producer = java_clients().producer(
            {
                **self.kafka.client_config("java", "producer"),
                "max.block.ms": _STEP_MS,
                "request.timeout.ms": 5000,
                "delivery.timeout.ms": _STEP_MS,
                **more,
            }
        )
        if self.transactional:
            self._do(self.producer, "init_transactions")
        self.consumer = java_clients().consumer(
            {
                **self.kafka.client_config("java", "consumer"),
                "group.id": GROUP,
                "session.timeout.ms": SESSION_MS,
                "group.protocol": "classic",
                "enable.auto.commit": "false",
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed",
                "default.api.timeout.ms": _STEP_MS,
                "max.poll.records": BATCH,
            }
        )
        self._do(self.consumer, "subscribe", topics=[SOURCE])

    def poll(self) -> Batch | None:
        rows = self._do(self.consumer, "poll", ms=int(POLL_S * 1000))["records"]
        if not rows:
            return None
        positions = {row["partition"]: row["offset"] + 1 for row in rows}
        return Batch([from_base64(row["value"]) or b"" for row in rows], positions)

    def begin(self) -> None:
        self._do(self.producer, "begin_transaction")

    def send(self, values: list[bytes]) -> None:
        rows = [{"key": None, "value": to_base64(value), "headers": []} for value in values]
        self._do(self.producer, "send", topic=TARGET, records=rows)

    def send_offsets(self, positions: dict[int, int]) -> None:
        assert self.consumer is not None
        name = self.consumer.name
        self._do(self.producer, "send_offsets", offsets=_places(positions), consumer=name)

    def commit(self) -> None:
        self._do(self.producer, "commit_transaction")

    def abort(self) -> None:
        self._do(self.producer, "abort_transaction")

    def commit_offsets(self, positions: dict[int, int]) -> None:
        self._do(self.consumer, "commit", offsets=_places(positions))

    def rewind(self) -> None:
        self._do(self.consumer, "rewind")

    def _do(self, thing: JavaThing | None, verb: str, **arguments: Any) -> dict[str, Any]:
        assert thing is not None
        try:
            return thing.do(verb, **arguments)
        except JavaError as error:
            is_over = error.kind in _FATAL or not self.transactional
            raise (Broken if is_over else Failed)(str(error)) from error

    def stop(self) -> None:
        self._do(self.consumer, "close", ms=_STEP_MS)
        self._do(self.producer, "close", ms=_STEP_MS)

    def drop(self) -> None:
        for thing in (self.producer, self.consumer):
            if thing is not None:
                with suppress(JavaError):
                    thing.close(ms=0)


def _places(positions: dict[int, int]) -> list[tuple[str, int, int]]:
    return [(SOURCE, index, offset) for index, offset in positions.items()]
