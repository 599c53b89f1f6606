"""Spark's stock connector reads what transactions wrote, in both isolation levels, as a batch and
as a stream: committed and aborted records mixed, nothing but aborted ones, one still open.

Markers take offsets that no reader sees, and so do aborted records for a committed reader: the
connector must not take them for lost data. Where its batches end it asks the broker, which tells
a committed reader the last stable offset.
"""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest
from odradek.compat import Client, NewRecord
from odradek.compat import client as client_named
from odradek.compat.clients import TIMEOUT_S
from odradek.compat.clients.java_client import java_clients
from odradek.compat.java.process import to_base64

pytestmark = [pytest.mark.spark, pytest.mark.slow]

COMMITTED, UNCOMMITTED = "read_committed", "read_uncommitted"
STREAM_TIMEOUT_S = 2 * TIMEOUT_S
Rows = list[tuple[int, int, bytes]]


@pytest.fixture(scope="module")
def java() -> Client:
    """The peer that writes, and whose own reading is what Spark's is compared with."""
    return client_named("java")


class Topic:
    """A topic of two partitions, written in transactions."""

    def __init__(self, java: Client, broker: str) -> None:
        self.java = java
        self.broker = broker
        self.name = f"spark-{uuid.uuid4().hex[:8]}"
        java.create_topic(broker, self.name, partitions=2)

    def write(self, *values: bytes, partition: int, commit: bool) -> None:
        """A transaction of its own."""
        self.java.produce(
            self.broker,
            self.name,
            [NewRecord(value) for value in values],
            partition=partition,
            transactional_id=f"{self.name}-{partition}",
            abort=not commit,
        )

    def open(self, *values: bytes, partition: int) -> Any:
        """A transaction that stays open: the producer that may end it."""
        config = {"bootstrap.servers": self.broker, "transactional.id": f"{self.name}-open"}
        producer = java_clients().producer(config)
        producer.do("init_transactions")
        producer.do("begin_transaction")
        rows = [
            {
                "partition": partition,
                "key": None,
                "value": to_base64(value),
                "headers": [],
            }
            for value in values
        ]
        producer.do("send", topic=self.name, records=rows)
        return producer

    def read(self, isolation: Any, count: int | None = None) -> Rows:
        """What the Java client reads; to the end, if nothing is open."""
        found = self.java.consume(self.broker, self.name, isolation=isolation, count=count)
        return sorted((one.partition, one.offset, one.value or b"") for one in found)


@pytest.fixture
def topic(java: Client, broker: str) -> Topic:
    return Topic(java, broker)


class Reader:
    """Spark's reading of one topic, in one isolation level."""

    def __init__(self, spark: Any, topic: Topic, isolation: str, path: Path) -> None:
        self._spark = spark
        self._path = path / isolation
        self._options = {
            "kafka.bootstrap.servers": topic.broker,
            "kafka.isolation.level": isolation,
            "subscribe": topic.name,
            "startingOffsets": "earliest",
            "failOnDataLoss": "true",
            "fetchOffset.retryIntervalMs": "50",
            "kafkaConsumer.pollTimeoutMs": "10000",
        }

    def batch(self, **more: str) -> Rows:
        """A batch from the beginning to the present end."""
        options = {**self._options, **more}
        return _rows(self._spark.read.format("kafka").options(**options).load())

    def stream(self, **more: str) -> Rows:
        """What a stream has written in all, run once more from its checkpoint to the end."""
        options = {**self._options, **more}
        frame = self._spark.readStream.format("kafka").options(**options).load()
        query = (
            frame.select("partition", "offset", "value")
            .writeStream.format("parquet")
            .option("checkpointLocation", str(self._path / "checkpoint"))
            .trigger(availableNow=True)
            .start(str(self._path / "out"))
        )
        assert query.awaitTermination(STREAM_TIMEOUT_S)
        schema = "partition int, offset long, value binary"
        return _rows(self._spark.read.schema(schema).parquet(str(self._path / "out")))


def _rows(frame: Any) -> Rows:
    rows = frame.select("partition", "offset", "value").collect()
    return sorted((row.partition, row.offset, bytes(row.value)) for row in rows)


@pytest.fixture
def readers(spark: Any, topic: Topic, tmp_path: Path) -> tuple[Reader, Reader]:
    """One for committed records, one for all."""
    committed = Reader(spark, topic, COMMITTED, tmp_path)
    return committed, Reader(spark, topic, UNCOMMITTED, tmp_path)


def test_committed_and_aborted_records_mixed(topic: Topic, readers: tuple[Reader, Reader]) -> None:
    committed, uncommitted = readers
    topic.write(b"a", b"b", partition=0, commit=True)
    topic.write(b"-c", partition=0, commit=False)
    topic.write(b"-d", b"-e", partition=1, commit=False)
    topic.write(b"f", partition=1, commit=True)
    topic.write(b"-g", partition=1, commit=False)
    first = [(0, 0, b"a"), (0, 1, b"b"), (1, 3, b"f")]
    everything = [*first[:2], (0, 3, b"-c"), (1, 0, b"-d"), (1, 1, b"-e"), first[2], (1, 5, b"-g")]
    assert committed.batch() == committed.stream() == topic.read(COMMITTED) == first
    assert uncommitted.batch() == uncommitted.stream() == topic.read(UNCOMMITTED) == everything

    topic.write(b"h", partition=0, commit=True)
    topic.write(b"-i", partition=1, commit=False)
    more, rest = [(0, 5, b"h")], [(1, 7, b"-i")]
    assert committed.stream() == topic.read(COMMITTED) == sorted(first + more)
    assert uncommitted.stream() == topic.read(UNCOMMITTED) == sorted(everything + more + rest)
    ranged = {"startingOffsets": f'{{"{topic.name}": {{"0": 2, "1": 2}}}}'}
    assert committed.batch(**ranged) == [(0, 5, b"h"), (1, 3, b"f")]
    assert uncommitted.batch(**ranged) == [
        *((0, 3, b"-c"), (0, 5, b"h"), (1, 3, b"f"), (1, 5, b"-g"), (1, 7, b"-i"))
    ]


def test_nothing_but_aborted_records(topic: Topic, readers: tuple[Reader, Reader]) -> None:
    committed, uncommitted = readers
    topic.write(b"-a", b"-b", partition=0, commit=False)
    topic.write(b"-c", partition=1, commit=False)
    everything = [(0, 0, b"-a"), (0, 1, b"-b"), (1, 0, b"-c")]
    assert committed.batch() == committed.stream() == topic.read(COMMITTED) == []
    assert uncommitted.batch() == uncommitted.stream() == topic.read(UNCOMMITTED) == everything
    topic.write(b"-d", partition=0, commit=False)
    assert committed.stream() == []
    topic.write(b"e", partition=0, commit=True)
    assert committed.stream() == committed.batch() == topic.read(COMMITTED) == [(0, 5, b"e")]


@pytest.mark.parametrize("step", ["1", "2"])
def test_a_stream_in_steps_that_hold_nothing(
    topic: Topic, readers: tuple[Reader, Reader], step: str
) -> None:
    """Steps of two offsets, a record and its marker, aborted ones or not; of one, which may be
    nothing but a marker."""
    committed, _ = readers
    for value, commit in ((b"a", True), (b"-b", False), (b"-c", False), (b"d", True)):
        topic.write(value, partition=0, commit=commit)
    expected = [(0, 0, b"a"), (0, 6, b"d")]
    assert committed.stream(maxOffsetsPerTrigger=step) == topic.read(COMMITTED) == expected


def test_an_open_transaction_hides_what_comes_after_it(
    topic: Topic, readers: tuple[Reader, Reader]
) -> None:
    committed, uncommitted = readers
    topic.write(b"a", partition=0, commit=True)
    producer = topic.open(b"b", b"c", partition=0)
    topic.write(b"d", partition=0, commit=True)
    topic.write(b"e", partition=1, commit=True)
    seen = [(0, 0, b"a"), (1, 0, b"e")]
    everything = [(0, 0, b"a"), (0, 2, b"b"), (0, 3, b"c"), (0, 4, b"d"), (1, 0, b"e")]
    assert committed.batch() == committed.stream() == topic.read(COMMITTED, 2) == seen
    assert uncommitted.batch() == uncommitted.stream() == topic.read(UNCOMMITTED, 5) == everything
    producer.do("commit_transaction")
    producer.close()
    # A real broker writes markers a little after it has answered; Java's reader waits for them.
    assert topic.read(COMMITTED) == committed.batch() == committed.stream() == everything
    assert uncommitted.stream() == everything
