"""What a stock consumer gets of a topic."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import pytest

TIMEOUT_S = 30.0


class Seen(NamedTuple):
    """One record, times in ms; timestamp types as Kafka's."""

    offset: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]
    timestamp: int
    timestamp_type: int


def consumed(address: str, topic: str, partition: int, isolation: str) -> list[Seen]:
    """Everything from the beginning of a partition to its end."""
    confluent = pytest.importorskip("confluent_kafka")
    consumer = confluent.Consumer(
        {
            "bootstrap.servers": address,
            "group.id": "none",
            "isolation.level": isolation,
            "enable.partition.eof": True,
            "enable.auto.commit": False,
            "check.crcs": True,
        }
    )
    place = confluent.TopicPartition(topic, partition, confluent.OFFSET_BEGINNING)
    consumer.assign([place])
    found = []
    try:
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            assert time.monotonic() < deadline, f"{topic}-{partition} does not end"
            # It waits for so many, or so long, whatever comes.
            for message in consumer.consume(500, 0.05):
                if message.error() is None:
                    found.append(_seen(message))
                elif message.error().code() == confluent.KafkaError._PARTITION_EOF:
                    return found
                else:
                    raise AssertionError(message.error())
    finally:
        consumer.close()


def _seen(message: Any) -> Seen:
    kind, timestamp = message.timestamp()
    headers = tuple(message.headers() or ())
    content = message.offset(), message.key(), message.value(), headers
    return Seen(*content, timestamp, kind - 1)
