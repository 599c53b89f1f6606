"""Consume, transform, produce, in a transaction, with Kafka's own Java client."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from odradek.compat.clients.java_client import java_clients
from odradek.compat.java.client import JavaClients, JavaError, JavaThing
from odradek.compat.java.process import from_base64, to_base64

from tests.clients.support.transactional_apps import TIMEOUT_S, Fenced, Transformer

POLL_MS = 200
FENCED = ("ProducerFencedException", "InvalidProducerEpochException")


class JavaTransformer(Transformer):
    """Reads from where the group has committed; the partition is assigned by hand."""

    joins = False
    more_of_producer: dict[str, Any] = {}
    more_of_consumer: dict[str, Any] = {}
    jvm: Callable[[], JavaClients] = staticmethod(java_clients)

    def start(self) -> None:
        self.producer = self.jvm().producer(
            {
                "bootstrap.servers": self.bootstrap,
                "transactional.id": self.name,
                "reconnect.backoff.max.ms": 200,
                **self.more_of_producer,
            }
        )
        self.producer.do("init_transactions")
        self.consumer = self.jvm().consumer(
            {
                "bootstrap.servers": self.bootstrap,
                "group.id": self.group,
                "enable.auto.commit": "false",
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed",
                "reconnect.backoff.max.ms": 200,
                **self.more_of_consumer,
            }
        )
        if self.joins:
            self.consumer.do("subscribe", topics=[self.source])
        self.is_new = True

    def take(self, count: int) -> tuple[list[bytes], int]:
        rows: list[dict[str, Any]] = []
        if self.joins:
            self._seek_to_committed()
        else:  # what is assigned anew is read from the group's position
            self.consumer.do("assign", partitions=[])
            self.consumer.do("assign", partitions=[(self.source, 0)])
        end = time.monotonic() + TIMEOUT_S
        while len(rows) < count and time.monotonic() < end:
            rows += self.consumer.do("poll", ms=POLL_MS)["records"]
        assert len(rows) >= count
        rows = rows[:count]
        values: list[Any] = [from_base64(row["value"]) for row in rows]
        return values, rows[-1]["offset"] + 1

    def _seek_to_committed(self) -> None:
        """A member that begins anew: from the position of its group, if there is one."""
        if self.is_new:  # the first poll does so by itself
            self.is_new = False
            return
        offset = 0
        asking = self.jvm().consumer(
            {
                "bootstrap.servers": self.bootstrap,
                "group.id": self.group,
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed",  # waits for offsets that are pending
            }
        )
        asking.do("assign", partitions=[(self.source, 0)])
        ((_, _, offset),) = asking.do("positions")["positions"]
        asking.close()
        self.consumer.do("seek", offsets=[(self.source, 0, offset)])

    def write(self, values: list[bytes], position: int) -> None:
        rows = [
            {"partition": 0, "key": None, "value": to_base64(value), "headers": []}
            for value in values
        ]
        with _fenced():
            self.producer.do("begin_transaction")
            self.producer.do("send", topic=self.target, records=rows)
            offsets = [(self.source, 0, position)]
            self.producer.do("send_offsets", offsets=offsets, consumer=self.consumer.name)

    def end(self, commit: bool) -> None:
        with _fenced():
            self.producer.do("commit_transaction" if commit else "abort_transaction")

    def close(self) -> None:
        for each in (self.consumer, self.producer):
            _close(each)


class JavaMember(JavaTransformer):
    """Reads what its group gives it, by the classic protocol."""

    joins = True
    more_of_consumer = {"group.protocol": "classic", "heartbeat.interval.ms": 300}


class JavaMemberOfConsumerProtocol(JavaTransformer):
    """Reads what its group gives it, by the protocol of KIP-848."""

    joins = True
    more_of_consumer = {"group.protocol": "consumer"}


def _close(thing: JavaThing) -> None:
    with suppress(JavaError, EOFError):
        thing.close(ms=0)


@contextmanager
def _fenced() -> Iterator[None]:
    try:
        yield
    except JavaError as error:
        if error.kind in FENCED:
            raise Fenced(error.kind) from error
        raise
