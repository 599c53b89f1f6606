"""`spark.read.format("odradek")` reads what the stock connector reads of the same topics."""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from odradek import Emulator
from odradek.compat import NewRecord
from odradek.compat import client as client_named
from odradek.compat.clients import TIMEOUT_S
from odradek.compat.real_kafka import RealKafka

from tests.support.real_kafka import CONFIG

pytestmark = [pytest.mark.spark, pytest.mark.slow]

CODECS = [None, "gzip", "snappy", "lz4", "zstd"]
ISOLATIONS = ["read_uncommitted", "read_committed"]


@pytest.fixture(scope="module", params=["ours", pytest.param("real", marks=pytest.mark.real)])
def kafka(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Emulator | RealKafka]:
    """A broker with a directory of its own: the emulator, and a real Kafka."""
    if request.param == "real":
        yield request.getfixturevalue("real_kafka")
    else:
        with Emulator(CONFIG, data_dir=tmp_path_factory.mktemp("data")) as ours:
            yield ours


class Both:
    """The same topics, read by the data source and by the connector."""

    def __init__(self, spark: Any, kafka: Emulator | RealKafka) -> None:
        self.spark, self.kafka, self.path = spark, kafka, Path(kafka.data_dir)
        self.client = client_named("confluent-kafka")
        self.open: list[Producer] = []

    def topic(self, name: str, *, partitions: int) -> str:
        name = f"{name}-{uuid.uuid4().hex[:8]}"
        self.client.create_topic(self.kafka.bootstrap_servers, name, partitions=partitions)
        return name

    def produce(
        self, topic: str, new: list[NewRecord], *, compression: Any = None, **more: Any
    ) -> None:
        codec = None if compression == "none" else compression
        self.client.produce(self.kafka.bootstrap_servers, topic, new, compression=codec, **more)

    def open_transaction(self, topic: str, partition: int) -> None:
        """Write one record in a transaction that stays open."""
        servers = self.kafka.bootstrap_servers
        producer = Producer({"bootstrap.servers": servers, "transactional.id": f"{topic}-open"})
        producer.init_transactions(TIMEOUT_S)
        producer.begin_transaction()
        producer.produce(topic, b"open", partition=partition)
        assert producer.flush(TIMEOUT_S) == 0
        self.open.append(producer)

    def ours(self, **options: str) -> Any:
        return self.spark.read.format("odradek").options(**options).load(str(self.path))

    def connectors(self, **options: str) -> Any:
        servers = self.kafka.bootstrap_servers
        read = self.spark.read.format("kafka").option("kafka.bootstrap.servers", servers)
        return read.options(**options).load()

    def equal(self, count: int | None = None, **options: str) -> None:
        """Both frames have the same schema and rows, and so many."""
        ours, theirs = self.ours(**options), self.connectors(**options)
        assert ours.schema == theirs.schema
        rows = _in_order(ours)
        assert rows == _in_order(theirs)
        if count is not None:
            assert len(rows) == count


def _in_order(frame: Any) -> list[Any]:
    rows: list[Any] = frame.collect()
    return sorted(rows, key=lambda row: (row.topic, row.partition, row.offset))


@pytest.fixture
def both(spark: Any, kafka: Emulator | RealKafka) -> Iterator[Both]:
    both = Both(spark, kafka)
    yield both
    for producer in both.open:
        producer.abort_transaction(TIMEOUT_S)


def records(count: int, start: int = 0) -> list[NewRecord]:
    """Records of all shapes: null keys, null and empty values, headers, times of their own."""
    return [
        NewRecord(
            None if n % 11 == 0 else b"value %d" % n * (n % 5),
            None if n % 7 == 0 else b"key %d" % n,
            (("h", b"%d" % n), ("h", b""), ("é", None)) if n % 3 == 0 else (),
            1_700_000_000_000 + n * 1000,
        )
        for n in range(start, start + count)
    ]


@pytest.mark.parametrize("codec", CODECS)
def test_every_codec(both: Both, codec: str | None) -> None:
    topic = both.topic("codec", partitions=2)
    for partition, start in ((0, 0), (1, 500), (0, 1000)):
        both.produce(topic, records(250, start), partition=partition, compression=codec)
    both.equal(750, subscribe=topic, includeHeaders="true")


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_transactions(both: Both, isolation: str) -> None:
    """Committed, aborted and open ones, nothing but markers, plain records between them."""
    topic = both.topic("transactions", partitions=3)
    for partition, abort, count in ((0, False, 30), (0, True, 20), (1, True, 40)):
        both.produce(
            topic, records(count), partition=partition, transactional_id=topic, abort=abort
        )
    both.produce(topic, records(7), partition=0)
    both.produce(topic, records(3), partition=2)
    both.open_transaction(topic, 2)
    both.produce(topic, records(3), partition=2)
    visible = {"read_uncommitted": 30 + 20 + 40 + 7 + 3 + 1 + 3, "read_committed": 30 + 7 + 3}
    both.equal(visible[isolation], subscribe=topic, **{"kafka.isolation.level": isolation})


def test_ranges_of_offsets(both: Both) -> None:
    topic = both.topic("offsets", partitions=3)
    for partition in range(3):
        both.produce(topic, records(900), partition=partition)
    starts, ends = {"0": 5, "1": -2, "2": 900}, {"0": 800, "1": 2, "2": -1}
    both.equal(
        797,
        subscribe=topic,
        startingOffsets=json.dumps({topic: starts}),
        endingOffsets=json.dumps({topic: ends}),
    )
    both.equal(100, assign=json.dumps({topic: [1]}), endingOffsets=json.dumps({topic: {"1": 100}}))


def test_ranges_of_times(both: Both) -> None:
    topic = both.topic("times", partitions=2)
    both.produce(topic, records(900), partition=0)
    both.produce(topic, records(600), partition=1)
    start, end = 1_700_000_123_456, 1_700_000_500_000
    both.equal(
        2 * (500 - 124),
        subscribe=topic,
        startingTimestamp=str(start),
        endingTimestamp=str(end),
    )
    late = {"startingTimestamp": "1700000700000", "startingOffsetsByTimestampStrategy": "latest"}
    both.equal(200, subscribe=topic, **late)
    by_partition = {"0": start, "1": 1_700_000_599_000}
    both.equal(
        900 - 124 + 1,
        subscribe=topic,
        startingOffsetsByTimestamp=json.dumps({topic: by_partition}),
    )


def test_patterns(both: Both) -> None:
    names = [both.topic(f"pattern-{which}", partitions=1) for which in ("a", "b")]
    for name in names:
        both.produce(name, records(10), partition=0)
    both.equal(20, subscribePattern=f"({names[0]}|{names[1]})")
    assert both.ours(topics=f"{names[0][:-1]}*").select("topic").distinct().count() == 1


@pytest.mark.parametrize("kafka", ["ours"], indirect=True)  # which compacts at a word
def test_gaps_of_a_compacted_topic(both: Both) -> None:
    assert isinstance(both.kafka, Emulator)
    name = f"compacted-{uuid.uuid4().hex[:8]}"
    topic = both.kafka.create_topic(name, configs={"cleanup.policy": "compact"})
    for _ in range(3):
        both.produce(name, [each for each in records(400) if each.key], partition=0)
    assert topic.compact() > 0
    both.equal(subscribe=name, includeHeaders="true")


def test_one_segment_is_one_task(both: Both) -> None:
    """The plan has one task a segment, and none for one that holds nothing of the range."""
    topic = both.topic("tasks", partitions=2)
    large = NewRecord(bytes(100_000), timestamp=1_700_000_000_000)
    for _ in range(3):
        both.produce(topic, [large] * 9, partition=1)
    logs = sorted(each.name for each in (both.path / f"{topic}-1").glob("*.log"))
    assert len(logs) == 3
    assert both.ours(subscribe=topic).rdd.getNumPartitions() == 3
    last = int(Path(logs[-1]).stem)
    asked = {"startingOffsets": json.dumps({topic: {"0": -2, "1": last}})}
    assert both.ours(subscribe=topic, **asked).rdd.getNumPartitions() == 1
    assert both.ours(subscribe=topic, minPartitions="5").rdd.getNumPartitions() >= 5
    both.equal(27, subscribe=topic, minPartitions="5")


def test_rows_do_not_pass_the_driver(both: Both) -> None:
    """The scan is read by Python in the tasks, and what it is aggregated from stays there."""
    topic = both.topic("plan", partitions=1)
    frame = both.ours(subscribe=topic).groupBy("key").count()
    plan = frame._jdf.queryExecution().executedPlan().toString()
    assert "BatchScan odradek" in plan
    assert "(Python)" in plan
    assert "LocalTableScan" not in plan
    assert "RDDScan" not in plan


def test_columns_of_the_batch(both: Both) -> None:
    topic = both.topic("columns", partitions=1)
    both.produce(topic, records(100), partition=0, compression="zstd", transactional_id=topic)
    row = both.ours(subscribe=topic, batchColumns="true").orderBy("offset").head()
    assert row.segment.endswith(f"{topic}-0/00000000000000000000.log")
    assert (row.position, row.sequence, row.producerEpoch) == (0, 0, 0)
    assert (row.codec, row.outcome, row.transactional, row.control) == (
        "zstd",
        "committed",
        True,
        False,
    )
    assert row.crcOk


def test_columns_are_chosen_by_option_or_schema(both: Both) -> None:
    topic = both.topic("chosen", partitions=1)
    both.produce(topic, records(10), partition=0)
    assert both.ours(subscribe=topic, columns="codec,offset").columns == ["codec", "offset"]
    reader = both.spark.read.format("odradek").schema("offset bigint, value binary")
    frame = reader.option("subscribe", topic).load(str(both.path))
    assert frame.filter("offset = 3").head().value == b"value 3" * 3
    wrong = both.spark.read.format("odradek").schema("offset int").load(str(both.path))
    with pytest.raises(Exception, match="the schema has offset as int: it is bigint"):
        wrong.collect()


def test_an_unknown_option_is_refused(both: Both) -> None:
    with pytest.raises(Exception, match="there is no option subscibe: did you mean subscribe"):
        both.ours(subscibe="a")


def test_damage_is_named(both: Both, tmp_path: Path) -> None:
    topic = both.topic("damaged", partitions=1)
    both.produce(topic, records(50), partition=0)
    copy = tmp_path / "copy"
    shutil.copytree(both.path / f"{topic}-0", copy / f"{topic}-0")
    path = copy / f"{topic}-0" / "00000000000000000000.log"
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(data)
    frame = both.spark.read.format("odradek").load(str(copy))
    with pytest.raises(Exception, match=r"00000000000000000000\.log, byte 0, offset 0: wrong chec"):
        frame.collect()
