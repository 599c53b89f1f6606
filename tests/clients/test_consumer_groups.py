"""Members of KIP-848 groups: librdkafka with group.protocol=consumer, with every broker."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

confluent_kafka = pytest.importorskip("confluent_kafka")
from confluent_kafka import Consumer, Producer, TopicPartition  # noqa: E402
from confluent_kafka.admin import AdminClient, NewTopic  # noqa: E402

PARTITIONS, RECORDS = 4, 40
TIMEOUT_S = 40.0


@contextmanager
def member(bootstrap: str, group: str, topic: str, **options: Any) -> Iterator[Consumer]:
    """A running member that subscribes to the topic, or to an expression."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "group.protocol": "consumer",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "topic.metadata.refresh.interval.ms": 1000,
            **options,
        }
    )
    consumer.subscribe([topic])
    try:
        yield consumer
    finally:
        consumer.close()


def poll_until(consumers: list[Consumer], reached: Callable[[], bool]) -> list[bytes]:
    """Poll in turn until it is so; the values that came."""
    values = []
    deadline = time.monotonic() + TIMEOUT_S
    while not reached():
        assert time.monotonic() < deadline, [len(c.assignment()) for c in consumers]
        for consumer in consumers:
            message = consumer.poll(0.05)
            if message is not None and message.error() is None:
                values.append(message.value())
    return values


@pytest.fixture
def topic(broker: str) -> str:
    """A topic with some records in each partition."""
    name = f"shared-{uuid.uuid4().hex[:8]}"
    admin = AdminClient({"bootstrap.servers": broker})
    admin.create_topics([NewTopic(name, PARTITIONS, 1)])[name].result()
    producer = Producer({"bootstrap.servers": broker})
    for number in range(RECORDS):
        producer.produce(name, b"%d" % number, partition=number % PARTITIONS)
    assert producer.flush(TIMEOUT_S) == 0
    return name


@pytest.mark.client
@pytest.mark.slow
def test_members_share_commit_and_leave(broker: str, topic: str) -> None:
    group = f"g-{topic}"
    with member(broker, group, topic) as first:
        values = poll_until([first], lambda: len(first.assignment()) == PARTITIONS)
        while len(values) < RECORDS:
            values += [m.value() for m in first.consume(RECORDS, 1.0)]
        assert sorted(values, key=int) == [b"%d" % number for number in range(RECORDS)]
        first.commit(asynchronous=False)
        with member(broker, group, topic) as second:
            poll_until(
                [first, second],
                lambda: len(first.assignment()) == len(second.assignment()) == PARTITIONS // 2,
            )
            wanted = [TopicPartition(topic, number) for number in range(PARTITIONS)]
            found = second.committed(wanted, timeout=TIMEOUT_S)
            assert [each.offset for each in found] == [RECORDS // PARTITIONS] * PARTITIONS
        poll_until([first], lambda: len(first.assignment()) == PARTITIONS)


@pytest.mark.client
@pytest.mark.slow
def test_both_protocols_share_one_group(broker: str, topic: str) -> None:
    group = f"g-{topic}"
    old = {"group.protocol": "classic", "partition.assignment.strategy": "cooperative-sticky"}
    with (
        member(broker, group, topic, **old) as classic,
        member(broker, group, topic) as modern,
    ):
        poll_until(
            [classic, modern],
            lambda: len(classic.assignment()) == len(modern.assignment()) == PARTITIONS // 2,
        )
