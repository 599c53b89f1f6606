"""Spark with the stock connector: batches and streams, both ways."""

from __future__ import annotations

import json
import time
import uuid
from pathlib import Path
from typing import Any

import pytest
from odradek.compat import Client, NewRecord
from odradek.compat.clients import TIMEOUT_S

pytestmark = pytest.mark.spark

STREAM_TIMEOUT_S = 2 * TIMEOUT_S


@pytest.fixture
def topic(broker: str, any_client: Client) -> str:
    name = f"spark-{uuid.uuid4().hex[:8]}"
    any_client.create_topic(broker, name, partitions=3)
    return name


@pytest.fixture(autouse=True)
def _entered(request: pytest.FixtureRequest, seen_by: Any, spark: Any) -> None:
    name = request.node.originalname.removeprefix("test_")
    seen_by("spark", spark.version, name)


def kafka(operation: Any, broker: str, **options: str) -> Any:
    """Give a reader or writer the connector, the broker and further options."""
    return operation.format("kafka").option("kafka.bootstrap.servers", broker).options(**options)


def now_ms() -> int:
    return int(time.time() * 1000)


def rows_for(any_client: Client, broker: str, topic: str) -> list[tuple[int, int, bytes | None]]:
    return sorted((r.partition, r.offset, r.value) for r in any_client.consume(broker, topic))


def test_writes_a_batch(spark: Any, broker: str, topic: str, any_client: Client) -> None:
    rows = [
        (b"key", b"value", [("h", bytearray(b"1")), ("h", bytearray(b"2"))], 0),
        (None, b"no key", None, 1),
        (b"tombstone", None, [("null", None)], 2),
    ]
    fields = "key binary, value binary, headers array<struct<key:string,value:binary>>"
    frame = spark.createDataFrame(rows, f"{fields}, partition int")
    kafka(frame.write, broker, topic=topic, includeHeaders="true").save()

    records = any_client.consume(broker, topic)

    assert sorted((r.partition, r.key, r.value, r.headers) for r in records) == [
        (0, b"key", b"value", (("h", b"1"), ("h", b"2"))),
        (1, None, b"no key", ()),
        (2, b"tombstone", None, (("null", None),)),
    ]
    # The connector cannot set timestamps: they are of the write.
    assert all(0 <= now_ms() - record.timestamp < 600_000 for record in records)


def test_reads_a_batch(spark: Any, broker: str, topic: str, any_client: Client) -> None:
    start = now_ms() - 60_000
    sent = [
        NewRecord(b"value", b"key", (("h", b"1"), ("h", b"2")), start),
        NewRecord(None, b"tombstone", (("empty", b""),), start + 1),
        NewRecord(b"no key", None, (), start + 2),
    ]
    any_client.produce(broker, topic, sent, partition=1)

    frame = kafka(spark.read, broker, subscribe=topic, includeHeaders="true").load()
    rows = sorted(frame.collect(), key=lambda row: int(row.offset))

    assert [(row.topic, row.partition, row.offset, row.timestampType) for row in rows] == [
        (topic, 1, offset, 0) for offset in range(3)
    ]
    for row, record in zip(rows, sent, strict=True):
        assert (row.key, row.value) == (record.key, record.value)
        headers = tuple((header.key, bytes(header.value)) for header in row.headers or ())
        assert headers == record.headers
        # collect() gives naive local times, whatever the zone of the session
        assert round(row.timestamp.timestamp() * 1000) == record.timestamp


def test_reads_a_range_of_offsets(spark: Any, broker: str, topic: str, any_client: Client) -> None:
    for partition in range(3):
        values = [NewRecord(b"%d-%d" % (partition, n)) for n in range(20)]
        any_client.produce(broker, topic, values, partition=partition)

    def read(starting: dict[str, int], ending: dict[str, int]) -> list[tuple[int, int, bytes]]:
        frame = kafka(
            spark.read,
            broker,
            subscribe=topic,
            startingOffsets=json.dumps({topic: starting}),
            endingOffsets=json.dumps({topic: ending}),
        ).load()
        rows = frame.select("partition", "offset", "value").collect()
        return sorted((row.partition, row.offset, bytes(row.value)) for row in rows)

    earliest, latest = -2, -1
    assert read({"0": 5, "1": earliest, "2": 20}, {"0": 8, "1": 2, "2": latest}) == [
        (0, 5, b"0-5"),
        (0, 6, b"0-6"),
        (0, 7, b"0-7"),
        (1, 0, b"1-0"),
        (1, 1, b"1-1"),
    ]


def test_resumes_a_stream_from_its_checkpoint(
    spark: Any, broker: str, topic: str, any_client: Client, tmp_path: Path
) -> None:
    def run_once() -> list[bytes]:
        frame = kafka(spark.readStream, broker, subscribe=topic, startingOffsets="earliest").load()
        query = (
            frame.select("value")
            .writeStream.format("parquet")
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start(str(tmp_path / "out"))
        )
        assert query.awaitTermination(STREAM_TIMEOUT_S)
        rows = spark.read.parquet(str(tmp_path / "out")).collect()
        return sorted(bytes(row.value) for row in rows)

    any_client.produce(broker, topic, [NewRecord(b"a%d" % n) for n in range(9)])
    first = run_once()
    any_client.produce(broker, topic, [NewRecord(b"b%d" % n) for n in range(9)])
    second = run_once()

    assert first == [b"a%d" % n for n in range(9)]
    assert second == first + [b"b%d" % n for n in range(9)]


def test_writes_a_stream(
    spark: Any, broker: str, topic: str, any_client: Client, tmp_path: Path
) -> None:
    copied = f"{topic}-copy"
    any_client.create_topic(broker, copied, partitions=3)
    for partition in range(3):
        values = [NewRecord(b"v%d" % n, b"k%d" % n) for n in range(10)]
        any_client.produce(broker, topic, values, partition=partition)

    frame = kafka(spark.readStream, broker, subscribe=topic, startingOffsets="earliest").load()
    query = (
        kafka(frame.select("key", "value", "partition").writeStream, broker, topic=copied)
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    assert query.awaitTermination(STREAM_TIMEOUT_S)

    assert rows_for(any_client, broker, copied) == rows_for(any_client, broker, topic)
