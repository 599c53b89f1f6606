"""kafka-python with the common verbs. Tested with 3.x.

Its blocking calls take timeouts in different places; each is given one, TIMEOUT_S or less.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic
from kafka.errors import KafkaConnectionError, KafkaError

from .time_limits import TIMEOUT_S, asked_until
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

TIMEOUT_MS = int(TIMEOUT_S * 1000)
CLOSE_TIMEOUT_S = 5.0


class KafkaPythonConsumer(Consumer):
    def __init__(self, bootstrap: str, topic: str, **options: Any) -> None:
        self._consumer = KafkaConsumer(topic, bootstrap_servers=bootstrap, **options)

    def poll(self, seconds: float, max_records: int = 500) -> list[Record]:
        batches = self._consumer.poll(timeout_ms=int(seconds * 1000), max_records=max_records)
        return [
            Record(m.partition, m.offset, m.timestamp, m.key, m.value, headers_of(m.headers))
            for messages in batches.values()
            for m in messages
        ]

    def positions(self) -> dict[int, int]:
        positions = {}
        for partition in self._consumer.assignment():
            offset = self._consumer.position(partition, timeout_ms=1000)
            positions[partition.partition] = -1 if offset is None else offset
        return positions

    def commit(self) -> None:
        self._consumer.commit(timeout_ms=TIMEOUT_MS)

    def close(self) -> None:
        self._consumer.close(autocommit=False, timeout_ms=int(CLOSE_TIMEOUT_S * 1000))


class KafkaPython(Client):
    """The adapter; see Client for the verbs."""

    name = "kafka-python"
    sends_null_header_values = False  # it refuses them, but reads them
    poll_s = 1.0  # a poll that ends while a join is under way can lose the join (3.0.12)

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
        producer = KafkaProducer(
            bootstrap_servers=bootstrap,
            acks=acks,
            compression_type=compression,
            enable_idempotence=idempotent or transactional_id is not None,
            transactional_id=transactional_id,
            max_block_ms=TIMEOUT_MS,
        )
        try:
            if transactional_id is not None:
                producer.init_transactions()
                producer.begin_transaction()
            futures = [
                producer.send(
                    topic,
                    value=record.value,
                    key=record.key,
                    headers=list(record.headers),
                    timestamp_ms=record.timestamp,
                    partition=partition,
                )
                for record in records
            ]
            producer.flush(timeout=TIMEOUT_S)
            done = [future.get(timeout=TIMEOUT_S) for future in futures]
            if transactional_id is not None:
                (producer.abort_transaction if abort else producer.commit_transaction)()
        finally:
            producer.close(timeout=CLOSE_TIMEOUT_S)
        return [(metadata.partition, metadata.offset) for metadata in done]

    def consumer(
        self,
        bootstrap: str,
        topic: str,
        *,
        group: str | None = None,
        from_beginning: bool = True,
        isolation: Isolation = "read_uncommitted",
    ) -> Consumer:
        return KafkaPythonConsumer(
            bootstrap,
            topic,
            group_id=group,
            auto_offset_reset="earliest" if from_beginning else "latest",
            isolation_level=isolation,
            enable_auto_commit=False,
            session_timeout_ms=SESSION_TIMEOUT_MS,
            heartbeat_interval_ms=HEARTBEAT_MS,
        )

    def committed(self, bootstrap: str, group: str, topic: str) -> dict[int, int]:
        with _consumer(bootstrap, group_id=group, enable_auto_commit=False) as consumer:
            found = {
                partition.partition: consumer.committed(partition, timeout_ms=TIMEOUT_MS)
                for partition in _all(consumer, topic)
            }
        return {partition: offset for partition, offset in found.items() if offset is not None}

    def list_topics(self, bootstrap: str) -> set[str]:
        with _consumer(bootstrap) as consumer:
            return asked_until(lambda: set(consumer.topics()), _is_passing)

    def partitions(self, bootstrap: str, topic: str) -> list[int]:
        with _consumer(bootstrap) as consumer:
            return [partition.partition for partition in _all(consumer, topic)]

    def end_offsets(self, bootstrap: str, topic: str) -> dict[int, int]:
        def ask() -> dict[int, int]:
            with _consumer(bootstrap) as consumer:
                ends = consumer.end_offsets(_all(consumer, topic))
            return {partition.partition: offset for partition, offset in ends.items()}

        return asked_until(ask, _is_passing)

    def offsets_for_time(
        self, bootstrap: str, topic: str, timestamp_ms: int
    ) -> dict[int, int | None]:
        with _consumer(bootstrap) as consumer:
            found = consumer.offsets_for_times(dict.fromkeys(_all(consumer, topic), timestamp_ms))
        return {p.partition: entry and entry.offset for p, entry in found.items()}

    def _create_topic(
        self, bootstrap: str, topic: str, partitions: int, configs: dict[str, str]
    ) -> None:
        with _admin(bootstrap) as admin:
            admin.create_topics(
                [NewTopic(topic, partitions, BROKERS_DEFAULT, topic_configs=configs)],
                timeout_ms=TIMEOUT_MS,
            )

    def _delete_topic(self, bootstrap: str, topic: str) -> None:
        with _admin(bootstrap) as admin:
            admin.delete_topics([topic], timeout_ms=TIMEOUT_MS)


def _is_passing(error: Exception) -> bool:
    return isinstance(error, KafkaError) and error.retriable


@contextmanager
def _consumer(bootstrap: str, **options: Any) -> Iterator[Any]:
    """A consumer that subscribes to nothing, for requests about topics; closed afterwards."""
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, **options)
    try:
        yield consumer
    finally:
        consumer.close(autocommit=False, timeout_ms=int(CLOSE_TIMEOUT_S * 1000))


@contextmanager
def _admin(bootstrap: str) -> Iterator[Any]:
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    try:
        yield admin
    finally:
        admin.close()


def _all(consumer: Any, topic: str) -> list[Any]:
    """All partitions of a topic. The client asks one broker, which may be restarting."""
    found = asked_until(
        lambda: consumer.partitions_for_topic(topic),
        lambda error: isinstance(error, KafkaConnectionError),
    )
    return [TopicPartition(topic, partition) for partition in sorted(found)]
