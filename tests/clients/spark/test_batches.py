"""Batches: which offsets they read, in how many tasks, and what is written."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from odradek import Emulator, NewRecord, TopicView
from odradek.compat import Client
from odradek.compat import NewRecord as ClientsRecord
from odradek.fixtures.spark import assert_topic_equal

from tests.clients.spark.support import sorted_rows

pytestmark = pytest.mark.spark

# An hour ago, so that retention keeps it; windows begin at it.
START_MS = (int(time.time()) - 3600) // 100 * 100_000


@pytest.fixture
def orders(kafka: Emulator) -> TopicView:
    """Three partitions with values like "1-4", of which each is a second later than the last."""
    topic = kafka.create_topic("orders", partitions=3)
    for partition in range(3):
        topic.produce_all(
            NewRecord(f"{partition}-{n}", partition=partition, timestamp=START_MS + n * 1000)
            for n in range(5)
        )
    return topic


def write(kafka_options: dict[str, str], frame: Any, **options: str) -> None:
    frame.write.format("kafka").options(**kafka_options).options(**options).save()


def test_from_earliest_to_latest_over_several_partitions(read: Any, orders: TopicView) -> None:
    expected = [(partition, n, f"{partition}-{n}") for partition in range(3) for n in range(5)]
    assert sorted_rows(read(orders.name)) == expected
    explicit = {"startingOffsets": "earliest", "endingOffsets": "latest"}
    assert sorted_rows(read(orders.name, **explicit)) == expected
    assert_topic_equal(orders, read(orders.name))


def test_what_a_batch_writes_is_read_back(
    spark: Any, read: Any, kafka: Emulator, kafka_options: dict[str, str]
) -> None:
    copy = kafka.create_topic("copy", partitions=3)
    frame = spark.range(1000).selectExpr(
        "CAST(id % 10 AS STRING) AS key", "CAST(id AS STRING) AS value"
    )
    write(kafka_options, frame, topic=copy.name)
    assert_topic_equal(copy, frame)
    back = read(copy.name)
    assert sorted(int(row.value) for row in back.collect()) == list(range(1000))
    by_key = {record.key: record.partition for record in copy.records()}
    assert [record.partition for record in copy.records()] == [
        by_key[record.key] for record in copy.records()
    ]


def test_latest_is_bound_when_the_batch_is_run(read: Any, kafka: Emulator) -> None:
    late = kafka.create_topic("late")
    late.produce("a")
    frame = read(late.name)
    late.produce("b")
    assert sorted_rows(frame) == [(0, 0, "a"), (0, 1, "b")]
    late.produce("c")
    assert frame.count() == 3


def test_null_key_and_null_value(
    spark: Any, kafka: Emulator, kafka_options: dict[str, str]
) -> None:
    nulls = kafka.create_topic("nulls")
    rows = [(None, "value"), ("key", None), (None, None), ("", "")]
    frame = spark.createDataFrame(rows, "key string, value string")
    write(kafka_options, frame.coalesce(1), topic=nulls.name)
    assert [(record.key, record.value) for record in nulls.records()] == [
        *((None, b"value"), (b"key", None), (None, None), (b"", b""))
    ]
    assert_topic_equal(nulls, frame)
    back = spark.read.format("kafka").options(**kafka_options, subscribe=nulls.name).load()
    assert_topic_equal(nulls, back.select("key", "value", "offset"))


def test_start_and_end_by_timestamp(read: Any, orders: TopicView) -> None:
    second, fourth = str(START_MS + 1000), str(START_MS + 3000)
    between = read(orders.name, startingTimestamp=second, endingTimestamp=fourth)
    assert [row[1] for row in sorted_rows(between)] == 3 * [1, 2]
    start, end = ({orders.name: dict.fromkeys("012", int(each))} for each in (second, fourth))
    # What is between two records: the next one.
    start[orders.name]["1"] += 1
    options = {
        "startingOffsetsByTimestamp": json.dumps(start),
        "endingOffsetsByTimestamp": json.dumps(end),
    }
    assert [row[:2] for row in sorted_rows(read(orders.name, **options))] == [
        *((0, 1), (0, 2), (1, 2), (2, 1), (2, 2))
    ]


def test_a_start_after_every_timestamp_is_an_error_or_the_latest(
    read: Any, orders: TopicView
) -> None:
    never = {"startingTimestamp": str(START_MS + 60_000)}
    with pytest.raises(Exception, match="No offset matched from request"):
        read(orders.name, **never).collect()
    never["startingOffsetsByTimestampStrategy"] = "latest"
    assert sorted_rows(read(orders.name, **never)) == []
    # An end after every timestamp is the latest, in any case.
    assert read(orders.name, endingTimestamp=str(START_MS + 60_000)).count() == 15


@pytest.mark.parametrize("partitions", [2, 3, 6, 20])
def test_min_partitions_splits_what_a_task_reads(
    read: Any, orders: TopicView, partitions: int
) -> None:
    frame = read(orders.name, minPartitions=str(partitions))
    tasks = frame.rdd.getNumPartitions()
    assert {2: tasks == 3, 3: tasks == 3, 6: tasks == 6, 20: tasks == 15}[partitions]
    assert_topic_equal(orders, frame)


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_codecs_of_producers(
    spark: Any,
    read: Any,
    kafka: Emulator,
    kafka_options: dict[str, str],
    any_client: Client,
    codec: Any,
) -> None:
    packed = kafka.create_topic("packed")
    value = "all alike " * 20
    frame = spark.range(500).selectExpr(f"'{value}' AS value").coalesce(1)
    write(kafka_options, frame, topic=packed.name, **{"kafka.compression.type": codec})
    assert packed.size < 500 * len(value) / 5
    sent = [ClientsRecord(value.encode())] * 500
    any_client.produce(kafka.bootstrap_servers, packed.name, sent, compression=codec)
    assert packed.size < 1000 * len(value) / 5
    assert sorted_rows(read(packed.name)) == [(0, n, value) for n in range(1000)]


def test_the_partition_column_chooses_and_the_topic_column_too(
    spark: Any, kafka: Emulator, kafka_options: dict[str, str]
) -> None:
    one, other = (kafka.create_topic(name, partitions=2) for name in ("one", "other"))
    rows = [(one.name, 1, "a"), (one.name, 0, "b"), (other.name, 1, "c")]
    frame = spark.createDataFrame(rows, "topic string, partition int, value string")
    write(kafka_options, frame)
    assert [one[0].values(), one[1].values()] == [[b"b"], [b"a"]]
    assert [other[0].values(), other[1].values()] == [[], [b"c"]]
    # The option wins over the column.
    write(kafka_options, frame.where("value = 'a'"), topic=other.name)
    assert other[1].values() == [b"c", b"a"]


def test_a_timestamp_column_is_not_written(
    spark: Any, kafka: Emulator, kafka_options: dict[str, str]
) -> None:
    """The connector has no such column to write: the record has the producer's time."""
    stamped = kafka.create_topic("stamped")
    frame = spark.sql("SELECT 'a' AS value, TIMESTAMP'2001-01-01 00:00:00' AS timestamp")
    write(kafka_options, frame, topic=stamped.name)
    (record,) = stamped.records()
    assert abs(record.timestamp - kafka.now) < 600_000


def test_a_topic_that_is_missing(
    spark: Any, read: Any, kafka: Emulator, kafka_options: dict[str, str]
) -> None:
    frame = spark.sql("SELECT 'a' AS value")
    with pytest.raises(Exception, match="topic option required"):
        write(kafka_options, frame)
    with pytest.raises(Exception, match="null topic"):
        write(kafka_options, frame.selectExpr("value", "CAST(NULL AS STRING) AS topic"))
    with pytest.raises(Exception, match="UnknownTopicOrPartition"):
        read("missing").collect()
    there = kafka.create_topic("there")
    elsewhere = frame.selectExpr("value", "7 AS partition")
    with pytest.raises(Exception, match="not present in metadata after 1000 ms"):
        write(kafka_options, elsewhere, topic=there.name, **{"kafka.max.block.ms": "1000"})
    assert there.values() == []


@pytest.mark.kafka(config={"auto.create.topics.enable": False})
def test_a_topic_that_nobody_creates(
    spark: Any, kafka: Emulator, kafka_options: dict[str, str]
) -> None:
    quick = {"kafka.max.block.ms": "1000"}
    with pytest.raises(Exception, match="Topic missing not present in metadata after 1000 ms"):
        write(kafka_options, spark.sql("SELECT 'a' AS value"), topic="missing", **quick)
    assert kafka.topics() == []


@pytest.fixture
def _old_offset_fetching(spark: Any) -> Any:
    name = "spark.sql.streaming.kafka.useDeprecatedOffsetFetching"
    spark.conf.set(name, "true")
    yield
    spark.conf.unset(name)


@pytest.mark.usefixtures("_old_offset_fetching")
def test_the_old_offset_fetching_reads_a_batch_in_a_group(
    read: Any, kafka: Emulator, orders: TopicView
) -> None:
    group = f"batch-{orders.name}"
    frame = read(orders.name, **{"kafka.group.id": group})
    assert_topic_equal(orders, frame)
    assert kafka.group(group).state in ("Empty", "Stable", "Dead")
    timed = read(orders.name, startingTimestamp=str(START_MS + 4000))
    assert [row[1] for row in sorted_rows(timed)] == [4, 4, 4]
