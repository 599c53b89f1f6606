"""confluent-kafka (librdkafka) with the common verbs.

Two things differ from the others: a consumer must name a group, so one that is to have none
gets an invented name and is assigned its partitions by hand; and the position does not move over
transaction markers, so the end of a partition is taken from librdkafka's end-of-partition events.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from confluent_kafka import Consumer as LibraryConsumer
from confluent_kafka import KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from .time_limits import TIMEOUT_S, asked_until, wait_until
from .verbs import (
    BROKERS_DEFAULT,
    HEARTBEAT_MS,
    SESSION_TIMEOUT_MS,
    Acks,
    Client,
    Codec,
    Consumer,
    Isolation,
    NewRecord,
    Record,
    headers_of,
)

_PASSING = {
    KafkaError._UNKNOWN_PARTITION,
    KafkaError._TRANSPORT,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_LEADER_FOR_PARTITION,
}
"""librdkafka's errors about a partition's end when the leader has just moved."""


def _is_passing(error: Exception) -> bool:
    return isinstance(error, KafkaException) and error.args[0].code() in _PASSING


class ConfluentConsumer(Consumer):
    """One librdkafka consumer, and the position it has reached in each partition."""

    def __init__(self, topic: str, group: str | None, options: dict[str, Any]) -> None:
        self._topic = topic
        self._positions: dict[int, int] = {}
        self._consumer = LibraryConsumer(options)
        if group is not None:
            self._consumer.subscribe([topic], on_assign=self._forget)
            return
        partitions: list[int] = []

        def known() -> bool:  # a topic that this request creates is not known at once
            partitions[:] = _partitions(self._consumer, topic)
            return bool(partitions)

        wait_until(known, f"{topic} has partitions")
        start = -2 if options["auto.offset.reset"] == "earliest" else -1
        self._consumer.assign([TopicPartition(topic, p, start) for p in partitions])

    def _forget(self, _: Any, assigned: list[TopicPartition]) -> None:
        """Positions of an earlier assignment are void: the group's committed offsets count."""
        for each in assigned:
            self._positions.pop(each.partition, None)

    def poll(self, seconds: float, max_records: int = 500) -> list[Record]:
        # One message ends the wait; whatever else has arrived already comes with it.
        messages = self._consumer.consume(1, seconds)
        if messages and max_records > 1:
            messages += self._consumer.consume(max_records - 1, 0)
        records = []
        for message in messages:
            partition, offset = message.partition(), message.offset()
            if (error := message.error()) is None:
                self._positions[partition] = offset + 1
                _, timestamp = message.timestamp()
                headers = headers_of(message.headers())
                records.append(
                    Record(partition, offset, timestamp, message.key(), message.value(), headers)
                )
            elif error.code() == KafkaError._PARTITION_EOF:
                self._positions[partition] = offset
            elif error.code() != KafkaError.UNKNOWN_TOPIC_OR_PART:  # it may be created soon
                raise KafkaException(error)
        return records

    def positions(self) -> dict[int, int]:
        assigned = [partition.partition for partition in self._consumer.assignment()]
        return {partition: self._positions.get(partition, -1) for partition in assigned}

    def commit(self) -> None:
        offsets = [
            TopicPartition(self._topic, partition, offset)
            for partition, offset in self.positions().items()
            if offset >= 0
        ]
        if offsets:
            self._consumer.commit(offsets=offsets, asynchronous=False)

    def close(self) -> None:
        self._consumer.close()


class Deliveries:
    """The delivery reports of a producer, in the order of its records."""

    def __init__(self) -> None:
        self._reports: list[tuple[KafkaError | None, Any] | None] = []

    def expect(self) -> Callable[[KafkaError | None, Any], None]:
        """Return the callback that takes the next record's report."""
        number = len(self._reports)
        self._reports.append(None)

        def take(error: KafkaError | None, message: Any) -> None:
            self._reports[number] = (error, message)

        return take

    def places(self) -> list[tuple[int, int]]:
        """Return (partition, offset) of each record. Raises the first error among them."""
        places = []
        for report in self._reports:
            assert report is not None, "flushed before every report was in"
            error, message = report
            if error is not None:
                raise KafkaException(error)
            places.append((message.partition(), message.offset()))
        return places


class Confluent(Client):
    """The adapter; see Client for the verbs."""

    name = "confluent-kafka"
    protocols = ("classic", "consumer")

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
        options = {
            **_base(bootstrap),
            "acks": acks,
            "compression.type": compression or "none",
            "enable.idempotence": idempotent or transactional_id is not None,
            "message.timeout.ms": int(TIMEOUT_S * 1000),
        }
        if transactional_id is not None:
            options["transactional.id"] = transactional_id
        producer = Producer(options)
        if transactional_id is not None:
            producer.init_transactions(TIMEOUT_S)
            producer.begin_transaction()
        deliveries = Deliveries()
        for record in records:
            producer.produce(
                topic,
                value=record.value,
                key=record.key,
                headers=list(record.headers),
                timestamp=record.timestamp or 0,
                partition=-1 if partition is None else partition,
                on_delivery=deliveries.expect(),
            )
            producer.poll(0)
        if left := producer.flush(TIMEOUT_S):
            raise TimeoutError(f"{left} records were not delivered within {TIMEOUT_S:.0f} s")
        places = deliveries.places()
        if transactional_id is not None:
            (producer.abort_transaction if abort else producer.commit_transaction)(TIMEOUT_S)
        return places

    def consumer(
        self,
        bootstrap: str,
        topic: str,
        *,
        group: str | None = None,
        from_beginning: bool = True,
        isolation: Isolation = "read_uncommitted",
    ) -> Consumer:
        options = {
            **_base(bootstrap),
            "group.id": group or f"none-{uuid.uuid4()}",
            "auto.offset.reset": "earliest" if from_beginning else "latest",
            "isolation.level": isolation,
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "allow.auto.create.topics": True,
            "group.protocol": self.protocol,
        }
        if self.protocol == "classic":  # with the other protocol the broker decides
            options |= {
                "session.timeout.ms": SESSION_TIMEOUT_MS,
                "heartbeat.interval.ms": HEARTBEAT_MS,
            }
        return ConfluentConsumer(topic, group, options)

    def committed(self, bootstrap: str, group: str, topic: str) -> dict[int, int]:
        with _asking(bootstrap, group) as consumer:
            found = consumer.committed(_all(consumer, topic), timeout=TIMEOUT_S)
        return {entry.partition: entry.offset for entry in found if entry.offset >= 0}

    def list_topics(self, bootstrap: str) -> set[str]:
        return set(_admin(bootstrap).list_topics(timeout=TIMEOUT_S).topics)

    def partitions(self, bootstrap: str, topic: str) -> list[int]:
        return _partitions(_admin(bootstrap), topic)

    def end_offsets(self, bootstrap: str, topic: str) -> dict[int, int]:
        def ask() -> dict[int, int]:
            with _asking(bootstrap) as consumer:
                return {
                    entry.partition: consumer.get_watermark_offsets(entry, timeout=TIMEOUT_S)[1]
                    for entry in _all(consumer, topic)
                }

        return asked_until(ask, _is_passing)

    def offsets_for_time(
        self, bootstrap: str, topic: str, timestamp_ms: int
    ) -> dict[int, int | None]:
        with _asking(bootstrap) as consumer:
            asked = [
                TopicPartition(topic, entry.partition, timestamp_ms)
                for entry in _all(consumer, topic)
            ]
            found = consumer.offsets_for_times(asked, timeout=TIMEOUT_S)
        return {entry.partition: entry.offset if entry.offset >= 0 else None for entry in found}

    def _create_topic(
        self, bootstrap: str, topic: str, partitions: int, configs: dict[str, str]
    ) -> None:
        admin = _admin(bootstrap)  # kept until the answer arrives: its destructor cancels requests
        new = NewTopic(topic, partitions, BROKERS_DEFAULT, config=configs)
        for future in admin.create_topics([new]).values():
            future.result(TIMEOUT_S)

    def _delete_topic(self, bootstrap: str, topic: str) -> None:
        admin = _admin(bootstrap)
        for future in admin.delete_topics([topic]).values():
            future.result(TIMEOUT_S)


def _base(bootstrap: str) -> dict[str, Any]:
    return {"bootstrap.servers": bootstrap, "log_level": 3}  # syslog's "error"


def _admin(bootstrap: str) -> Any:
    return AdminClient(_base(bootstrap))


@contextmanager
def _asking(bootstrap: str, group: str = "none") -> Iterator[Any]:
    """A consumer that joins no group, for requests about offsets; closed afterwards."""
    consumer = LibraryConsumer({**_base(bootstrap), "group.id": group})
    try:
        yield consumer
    finally:
        consumer.close()


def _partitions(asked: Any, topic: str) -> list[int]:
    found = asked.list_topics(topic, timeout=TIMEOUT_S).topics[topic]
    return sorted(found.partitions)


def _all(asked: Any, topic: str) -> list[Any]:
    return [TopicPartition(topic, partition) for partition in _partitions(asked, topic)]
