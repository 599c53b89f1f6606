"""`df.write.format("odradek")`: what it wrote is read by Spark, the emulator and a real Kafka."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from odradek import Emulator
from odradek.compat import NewRecord
from odradek.compat import client as client_named
from odradek.compat.real_kafka import RealKafka

pytestmark = [pytest.mark.spark, pytest.mark.slow]

COLUMNS = ["key", "value", "headers", "timestamp"]


def frame(spark: Any, rows: int = 3000, tasks: int = 3) -> Any:
    """Records of all shapes, with the time of each in it."""
    return spark.range(0, rows, numPartitions=tasks).selectExpr(
        "cast(if(id % 7 = 0, null, concat('key ', id % 50)) as binary) key",
        "cast(if(id % 11 = 0, null, concat('value ', id)) as binary) value",
        "if(id % 3 = 0, null, array(named_struct('key', 'h', 'value', cast('x' as binary)),"
        " named_struct('key', 'n', 'value', cast(null as binary)))) headers",
        "timestamp_millis(1700000000000 + id * 1000) timestamp",
    )


def append(frame: Any, path: Path, **options: str) -> None:
    frame.write.format("odradek").mode("append").options(**options).save(str(path))


def same(ours: Any, theirs: Any, columns: list[str] = COLUMNS) -> None:
    """Both have the same rows, in any order."""
    left, right = ours.select(columns), theirs.select(columns)
    assert left.exceptAll(right).collect() == []
    assert right.exceptAll(left).collect() == []


@pytest.mark.parametrize(
    "codec",
    ["zstd"]
    + [pytest.param(each, marks=pytest.mark.long) for each in ("none", "gzip", "snappy", "lz4")],
)
def test_what_is_written_is_read_back(spark: Any, tmp_path: Path, codec: str) -> None:
    written = frame(spark)
    asked = {"topic": "t", "numPartitions": "4", "kafka.compression.type": codec}
    append(written, tmp_path, **asked)
    back = spark.read.format("odradek").option("includeHeaders", "true").load(str(tmp_path))
    same(back, written)
    counts = back.groupBy("partition").count().collect()
    assert len(counts) == 4
    assert {row.topic for row in back.select("topic").distinct().collect()} == {"t"}


@pytest.mark.parametrize(
    "opened_by",
    [
        pytest.param("ours", marks=pytest.mark.long),
        pytest.param("real", marks=pytest.mark.real),
    ],
)
def test_a_broker_opens_it(spark: Any, tmp_path: Path, opened_by: str) -> None:
    """A new directory, written to twice; then the connector reads it, and a client writes on."""
    data = tmp_path / "data"
    written = frame(spark, 500).selectExpr("*", "'t' topic")
    append(written, data, numPartitions="2")
    append(written, data)
    broker = (
        RealKafka(data_dir=data, config={"log.retention.ms": "-1"})
        if opened_by == "real"
        else Emulator({"log.retention.ms": "-1"}, data_dir=data)
    )
    client = client_named("confluent-kafka")
    with broker as kafka:
        servers = kafka.bootstrap_servers
        read = spark.read.format("kafka").option("kafka.bootstrap.servers", servers)
        theirs = read.option("subscribe", "t").option("includeHeaders", "true").load()
        same(theirs, written.unionAll(written))
        assert client.partitions(servers, "t") == [0, 1]
        ends = client.end_offsets(servers, "t")
        assert sum(ends.values()) == 1000
        assert client.produce(servers, "t", [NewRecord(b"on")], partition=1) == [(1, ends[1])]
    append(written, data)
    assert spark.read.format("odradek").load(str(data)).count() == 1501


@pytest.mark.real
def test_it_appends_to_a_topic_that_a_real_kafka_wrote(spark: Any, tmp_path: Path) -> None:
    data = tmp_path / "data"
    client = client_named("confluent-kafka")
    with RealKafka(data_dir=data) as kafka:
        client.create_topic(kafka.bootstrap_servers, "t", partitions=3)
        client.produce(kafka.bootstrap_servers, "t", [NewRecord(b"before")], partition=2)
    append(spark.range(9).selectExpr("'after' value", "2 partition"), data, topic="t")
    append(spark.range(9).selectExpr("'new' value"), data, topic="u")
    with RealKafka(data_dir=data) as kafka:
        values = [each.value for each in client.consume(kafka.bootstrap_servers, "t")]
        assert values == [b"before"] + [b"after"] * 9
        assert len(client.consume(kafka.bootstrap_servers, "u")) == 9


def test_a_task_that_fails_leaves_nothing(spark: Any, tmp_path: Path) -> None:
    fails = frame(spark).selectExpr("if(value is null, raise_error('no value'), value) value")
    with pytest.raises(Exception, match="no value"):
        append(fails, tmp_path, topic="t")
    assert [*tmp_path.iterdir()] == []


def test_what_cannot_be_written_is_named(spark: Any, tmp_path: Path) -> None:
    wrong = [
        (frame(spark), {}, "name the topic in a column or in the option topic"),
        (frame(spark).withColumnRenamed("key", "kee"), {"topic": "t"}, "column kee cannot be"),
        (frame(spark), {"topic": "t", "numPartition": "3"}, "did you mean numPartitions"),
        (frame(spark), {"topic": "no/name"}, "no/name"),
    ]
    for rows, options, said in wrong:
        with pytest.raises(Exception, match=said):
            append(rows, tmp_path, **options)
    with pytest.raises(Exception, match=r"a log is appended to: write with mode\('append'\)"):
        frame(spark).write.format("odradek").mode("overwrite").save(str(tmp_path))
    assert not [each for each in tmp_path.iterdir() if each.is_dir() and "odradek" in each.name]
