"""Kafka's own Java client with the common verbs.

One JVM per interpreter serves all adapters of this kind; it is started by the first verb, ends with
the interpreter, and its version is that of the archives (java/jars.py).
"""

from __future__ import annotations

import atexit
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

from ..java.client import JavaClients, JavaError, JavaThing
from ..java.process import from_base64, to_base64
from ..real_kafka import VERSION
from .verbs import (
    HEARTBEAT_MS,
    SESSION_TIMEOUT_MS,
    Acks,
    Client,
    Codec,
    Consumer,
    Isolation,
    NewRecord,
    Record,
)


@cache
def java_clients() -> JavaClients:
    """The JVM. Raises Unavailable."""
    clients = JavaClients(VERSION).start()
    atexit.register(clients.close)
    return clients


class JavaConsumer(Consumer):
    """One consumer, subscribed, or assigned all partitions."""

    def __init__(self, topic: str, config: dict[str, Any], partitions: list[int] | None) -> None:
        self._topic = topic
        self._buffer: list[Record] = []
        self._consumer = java_clients().consumer(config)
        if partitions is None:
            self._consumer.do("subscribe", topics=[topic])
        else:
            self._consumer.do("assign", partitions=[(topic, p) for p in partitions])

    def poll(self, seconds: float, max_records: int = 500) -> list[Record]:
        if not self._buffer:
            rows = self._consumer.do("poll", ms=int(seconds * 1000))["records"]
            self._buffer = [_record(row) for row in rows]
        taken, self._buffer = self._buffer[:max_records], self._buffer[max_records:]
        return taken

    def positions(self) -> dict[int, int]:
        rows = self._consumer.do("positions")["positions"]
        at = {partition: offset for _, partition, offset in rows}
        for record in reversed(self._buffer):  # records that were not returned yet do not count
            if record.partition in at:
                at[record.partition] = record.offset
        return at

    def commit(self) -> None:
        offsets = [(self._topic, p, offset) for p, offset in self.positions().items()]
        self._consumer.do("commit", offsets=offsets)

    def close(self) -> None:
        self._consumer.close()


class Java(Client):
    """The adapter; see Client for the verbs."""

    name = "java"
    protocols = ("classic", "consumer")

    @property
    def version(self) -> str:
        return VERSION

    def produce(
        self,
        bootstrap: str,
        topic: str,
        records: Iterable[NewRecord],
        *,
        acks: Acks = "all",
        compression: Codec | None = None,
        idempotent: bool = False,
        partition: int | None = None,
        transactional_id: str | None = None,
        abort: bool = False,
    ) -> list[tuple[int, int]]:
        config: dict[str, Any] = {
            "bootstrap.servers": bootstrap,
            "acks": acks,
            "compression.type": compression or "none",
            "enable.idempotence": "true" if idempotent or transactional_id else "false",
        }
        if transactional_id is not None:
            config["transactional.id"] = transactional_id
        producer = java_clients().producer(config)
        try:
            if transactional_id is not None:
                producer.do("init_transactions")
                producer.do("begin_transaction")
            rows = [_row(record, partition) for record in records]
            places = producer.do("send", topic=topic, records=rows)["places"]
            if transactional_id is not None:
                producer.do("abort_transaction" if abort else "commit_transaction")
        finally:
            producer.close()
        return [(where, offset) for where, offset in places]

    def consumer(
        self,
        bootstrap: str,
        topic: str,
        *,
        group: str | None = None,
        from_beginning: bool = True,
        isolation: Isolation = "read_uncommitted",
    ) -> Consumer:
        config: dict[str, Any] = {
            "bootstrap.servers": bootstrap,
            "auto.offset.reset": "earliest" if from_beginning else "latest",
            "isolation.level": isolation,
            "enable.auto.commit": "false",
        }
        if group is None:
            partitions = self._known_partitions(bootstrap, topic, config)
            return JavaConsumer(topic, config, partitions)
        config |= {"group.id": group, "group.protocol": self.protocol}
        if self.protocol == "classic":
            config |= {
                "session.timeout.ms": SESSION_TIMEOUT_MS,
                "heartbeat.interval.ms": HEARTBEAT_MS,
            }
        return JavaConsumer(topic, config, None)

    def _known_partitions(self, bootstrap: str, topic: str, config: dict[str, Any]) -> list[int]:
        with suppress(JavaError):
            return self.partitions(bootstrap, topic)
        # A consumer's request for it creates it, where the broker creates topics automatically.
        asking = JavaConsumer(topic, {**config, "group.id": "asking"}, None)
        with suppress(JavaError):
            asking.poll(1.0)
        asking.close()
        return self.partitions(bootstrap, topic)

    def committed(self, bootstrap: str, group: str, topic: str) -> dict[int, int]:
        with _admin(bootstrap) as admin:
            rows = admin.do("committed", group=group)["offsets"]
        return {partition: offset for name, partition, offset in rows if name == topic}

    def list_topics(self, bootstrap: str) -> set[str]:
        with _admin(bootstrap) as admin:
            return set(admin.do("list_topics")["topics"])

    def partitions(self, bootstrap: str, topic: str) -> list[int]:
        with _admin(bootstrap) as admin:
            return list(range(admin.do("partitions", topic=topic)["count"]))

    def end_offsets(self, bootstrap: str, topic: str) -> dict[int, int]:
        return {p: -1 if o is None else o for p, o in self._offsets(bootstrap, topic, -1).items()}

    def offsets_for_time(
        self, bootstrap: str, topic: str, timestamp_ms: int
    ) -> dict[int, int | None]:
        return self._offsets(bootstrap, topic, timestamp_ms)

    def _offsets(self, bootstrap: str, topic: str, timestamp: int) -> dict[int, int | None]:
        with _admin(bootstrap) as admin:
            count = admin.do("partitions", topic=topic)["count"]
            places = [(topic, partition) for partition in range(count)]
            rows = admin.do("list_offsets", partitions=places, timestamp=timestamp)["offsets"]
        return {partition: offset if offset >= 0 else None for partition, offset in rows}

    def _create_topic(
        self, bootstrap: str, topic: str, partitions: int, configs: dict[str, str]
    ) -> None:
        with _admin(bootstrap) as admin:
            admin.do("create_topic", topic=topic, partitions=partitions, configs=configs)

    def _delete_topic(self, bootstrap: str, topic: str) -> None:
        with _admin(bootstrap) as admin:
            admin.do("delete_topic", topic=topic)


@contextmanager
def _admin(bootstrap: str) -> Iterator[JavaThing]:
    admin = java_clients().admin({"bootstrap.servers": bootstrap})
    try:
        yield admin
    finally:
        admin.close()


def _row(record: NewRecord, partition: int | None) -> dict[str, Any]:
    return {
        "partition": partition,
        "timestamp": record.timestamp,
        "key": to_base64(record.key),
        "value": to_base64(record.value),
        "headers": [(name, to_base64(value)) for name, value in record.headers],
    }


def _record(row: dict[str, Any]) -> Record:
    headers = tuple((name, from_base64(value)) for name, value in row["headers"])
    key, value = from_base64(row["key"]), from_base64(row["value"])
    return Record(row["partition"], row["offset"], row["timestamp"], key, value, headers)
