"""What is done to each broker: confluent-kafka (librdkafka), the same settings for all.

The settings follow one rule: the client must not be what is measured.

- Producing: batches of 1 MB, linger 20 ms, acks all, no delivery callback for a success. The
  client's queue is bounded (64 MB), or its growing memory takes longer than the broker.
- Consuming: librdkafka's usual fetch sizes (1 MB a partition, 64 MB queued ahead), but after a
  full queue it fetches again in 10 ms, not in 1 s, and a fetch that finds nothing ends after 10 ms,
  not after 500: while it waits, other partitions of the same broker are not asked. Messages are
  taken 1000 at a time: more of 10 KB each would again be a question of memory.
- One record in flight: no linger; the time runs from `produce` to the delivery report.
- Joining a group: the client is connected beforehand, and its rebalance callback asks for the
  committed offset and the first offset itself. Left to librdkafka, a timer of 100 ms before it
  looks up the first offset is nearly all there is to see.

What is read is checked: every partition ends where it must, and one message of each thousand has
the value that belongs to its offset. A mismatch raises WrongData.
"""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from typing import Any, TypeVar

from confluent_kafka import (
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
    libversion,
)
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

Result = TypeVar("Result")

TIMEOUT_S = 60.0  # without any progress
MESSAGES_AT_ONCE = 1000
DISTINCT_VALUES = 997  # of 100 B more than lz4's window of 64 KiB, so it finds no repeated batch
LATENCY_WARM_UP = 200  # records

COMMON: dict[str, Any] = {"enable.metrics.push": False, "log_level": 3}
PRODUCING = {
    "acks": "all",
    "linger.ms": 20,
    "batch.size": 1_000_000,
    "batch.num.messages": 1_000_000,
    "queue.buffering.max.messages": 1_000_000,
    "queue.buffering.max.kbytes": 65_536,
    "delivery.report.only.error": True,
}
CONSUMING = {
    "group.id": "bench",  # named because it must be; partitions are assigned by hand
    "enable.auto.commit": False,
    "auto.offset.reset": "error",
    "fetch.message.max.bytes": 1_048_576,
    "queued.min.messages": 100_000,
    "queued.max.messages.kbytes": 65_536,
    "fetch.queue.backoff.ms": 10,
    "fetch.wait.max.ms": 10,
}
JOINING = {
    "enable.auto.commit": False,
    "auto.offset.reset": "error",
    "reconnect.backoff.ms": 10,
    "group.protocol": "classic",
}


class WrongData(Exception):
    """A broker lost, invented or changed a record."""


@dataclass(frozen=True)
class Load:
    """What to produce: `records` values of `size` bytes, dealt out to the partitions in turn."""

    size: int
    records: int
    partitions: int
    codec: str = "none"

    @property
    def records_each(self) -> int:
        """Records in one partition; the same in each."""
        return max(1, self.records // self.partitions)

    @property
    def total(self) -> int:
        """Records in all partitions together."""
        return self.records_each * self.partitions


def describe_client() -> str:
    """Return the client's name and versions."""
    return f"confluent-kafka {version('confluent-kafka')} (librdkafka {libversion()[0]})"


@lru_cache(maxsize=4)
def values(size: int) -> Sequence[bytes]:
    """Return the values of that size; the record at an offset has the one of offset modulo 997.

    Text of made-up words, alike in every run, so that compression has something to find.
    """
    source = random.Random(size)
    words = ["".join(source.choices("etaoinshrdlu", k=source.randint(2, 9))) for _ in range(500)]
    texts = (" ".join(source.choices(words, k=size // 3 + 1)) for _ in range(DISTINCT_VALUES))
    return [text[:size].encode() for text in texts]


def create_topic(address: str, topic: str, partitions: int) -> None:
    """Create an empty topic, deleting one of that name before, and wait until it can be used.

    Real Kafka says that a topic is created before its partitions take records. Batches refused
    meanwhile would be sent again, behind later ones.
    """
    admin = AdminClient({**COMMON, "bootstrap.servers": address})
    if topic in admin.list_topics(timeout=TIMEOUT_S).topics:
        admin.delete_topics([topic])[topic].result(TIMEOUT_S)
    new = NewTopic(topic, partitions, 1)
    _retry(lambda: admin.create_topics([new])[topic].result(TIMEOUT_S))
    found = _retry(lambda: end_offsets(address, topic, partitions))
    if found != [0] * partitions:
        raise WrongData(f"the new topic {topic} ends at {found}")


def end_offsets(address: str, topic: str, partitions: int) -> list[int]:
    """Return the offset at which each partition ends."""
    admin = AdminClient({**COMMON, "bootstrap.servers": address})
    wanted = {TopicPartition(topic, p): OffsetSpec.latest() for p in range(partitions)}
    return [end.result(TIMEOUT_S).offset for end in admin.list_offsets(wanted).values()]


def produce(address: str, topic: str, load: Load) -> float:
    """Produce the load; return the records per second, up to the last acknowledgement."""
    failures: list[KafkaError] = []
    producer = Producer(
        {
            **COMMON,
            **PRODUCING,
            "bootstrap.servers": address,
            "compression.type": load.codec,
            "on_delivery": lambda error, _message: failures.append(error),
        }
    )
    producer.list_topics(topic, timeout=TIMEOUT_S)  # connects, and finds the leaders
    data, send = values(load.size), producer.produce
    start = time.perf_counter()
    for offset in range(load.records_each):
        value = data[offset % DISTINCT_VALUES]
        for partition in range(load.partitions):
            try:
                send(topic, value, None, partition)
            except BufferError:
                _send_when_there_is_room(producer, topic, value, partition)
    _flush(producer)
    elapsed = time.perf_counter() - start
    if failures:
        raise WrongData(f"{len(failures)} records were refused: {failures[0]}")
    return load.total / elapsed


def consume(address: str, topic: str, load: Load) -> float:
    """Read the topic from its beginning to its end; return the records per second."""
    consumer = Consumer({**COMMON, **CONSUMING, "bootstrap.servers": address})
    try:
        consumer.list_topics(topic, timeout=TIMEOUT_S)
        partitions = [TopicPartition(topic, p, 0) for p in range(load.partitions)]
        data, received, last = values(load.size), 0, time.perf_counter()
        start = last
        consumer.assign(partitions)
        while received < load.total:
            messages = consumer.consume(MESSAGES_AT_ONCE, 0.5)
            now = time.perf_counter()
            if messages:
                received, last = received + len(messages), now
                _check(messages[-1], data)
            elif now - last > TIMEOUT_S:
                raise WrongData(f"only {received} of {load.total} records came")
        elapsed = last - start
        positions = [partition.offset for partition in consumer.position(partitions)]
    finally:
        consumer.close()
    ends = end_offsets(address, topic, load.partitions)
    if not positions == ends == [load.records_each] * load.partitions:
        raise WrongData(
            f"{topic} was read to {positions} and ends at {ends}, not after {load.records_each}"
            " records a partition"
        )
    return load.total / elapsed


def latencies(address: str, topic: str, records: int) -> list[float]:
    """Produce records of 100 B one after the other; return how long each took, in seconds."""
    producer = Producer({**COMMON, "bootstrap.servers": address, "acks": "all", "linger.ms": 0})
    producer.list_topics(topic, timeout=TIMEOUT_S)
    value, reports, times = values(100)[0], list[KafkaError | None](), list[float]()

    def delivered(error: KafkaError | None, _message: Message) -> None:
        reports.append(error)

    for _ in range(LATENCY_WARM_UP + records):
        start = time.perf_counter()
        producer.produce(topic, value, None, 0, delivered)
        while not reports:
            producer.poll(1.0)
        times.append(time.perf_counter() - start)
        if (error := reports.pop()) is not None:
            raise WrongData(f"a record was refused: {error}")
    return times[LATENCY_WARM_UP:]


def seconds_to_first_record(address: str, topic: str) -> float:
    """Join a group of a new name; return the time from subscribing to the first record."""
    consumer = Consumer(
        {**COMMON, **JOINING, "bootstrap.servers": address, "group.id": f"bench-{uuid.uuid4()}"}
    )
    try:
        consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=TIMEOUT_S)  # connects
        start = time.perf_counter()
        consumer.subscribe([topic], on_assign=_start_at_the_beginning)
        message = None
        while message is None and time.perf_counter() - start < TIMEOUT_S:
            message = consumer.poll(0.5)
        elapsed = time.perf_counter() - start
    finally:
        consumer.close()
    if message is None or message.error() or message.offset() != 0:
        raise WrongData(f"the group's first record did not come: {message and message.error()}")
    return elapsed


def _retry(attempt: Callable[[], Result]) -> Result:
    """Call until it succeeds: a deletion or creation may not have reached the whole broker."""
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        try:
            return attempt()
        except KafkaException:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.02)


def _start_at_the_beginning(consumer: Consumer, partitions: list[TopicPartition]) -> None:
    for partition in consumer.committed(partitions, timeout=TIMEOUT_S):
        if partition.offset >= 0:
            raise WrongData("a group of a new name has a committed offset")
        partition.offset, _ = consumer.get_watermark_offsets(partition, timeout=TIMEOUT_S)
        consumer.assign([partition])


def _send_when_there_is_room(producer: Producer, topic: str, value: bytes, partition: int) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        producer.poll(0.002)
        try:
            producer.produce(topic, value, None, partition)
            return
        except BufferError:
            if time.monotonic() > deadline:
                raise WrongData("the broker stopped acknowledging records") from None


def _flush(producer: Producer) -> None:
    left, deadline = len(producer), time.monotonic() + TIMEOUT_S
    while left:
        now_left = producer.flush(0.5)
        if now_left < left:
            left, deadline = now_left, time.monotonic() + TIMEOUT_S
        elif time.monotonic() > deadline:
            raise WrongData(f"{left} records were never acknowledged")


def _check(message: Message, data: Sequence[bytes]) -> None:
    if message.error():
        raise WrongData(str(message.error()))
    if message.value() != data[message.offset() % DISTINCT_VALUES]:
        where = f"{message.topic()}-{message.partition()} at offset {message.offset()}"
        raise WrongData(f"another value than was sent in {where}")
