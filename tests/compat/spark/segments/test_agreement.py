"""Columns and record by record: the same of every segment, and what a stock consumer gets.

The segments are those of this broker and of a real Kafka, filled in the same way: all codecs,
headers, nulls, transactions of every outcome, log append time, compaction, deleted records.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from odradek import Emulator
from odradek.compat.clients import wait_until
from odradek.compat.java.jars import jars
from odradek.compat.real_kafka import VERSION, RealKafka
from odradek.compat.spark.segments import (
    EVERYTHING,
    Damaged,
    Segment,
    Wanted,
    decoder,
    list_segments,
    outcomes,
    read_segment,
    schema_of,
)
from odradek.compat.spark.segments.contents import ScalarDecoder
from odradek.compat.spark.segments.runs import Heads, Run
from odradek.wire.batch import restamp
from odradek.wire.compression import Codec
from odradek.wire.records import HEADER_SIZE, NewRecord, build_batch, read_header

from tests.clients.support.filled_directory import TOPICS, Filled, create_topics, fill
from tests.compat.spark.segments.support.consumed import Seen, consumed
from tests.compat.spark.segments.support.placed import T, placed

ISOLATIONS = ("read_committed", "read_uncommitted")
SMALL = {
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "2",
    "log.retention.check.interval.ms": "500",
    "log.initial.task.delay.ms": "200",
}

SeenByIsolation = dict[tuple[str, int, str], list[Seen]]


def seen_of(address: str) -> SeenByIsolation:
    return {
        (topic, partition, isolation): consumed(address, topic, partition, isolation)
        for topic, (partitions, _) in TOPICS.items()
        for partition in range(partitions)
        for isolation in ISOLATIONS
    }


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, SeenByIsolation]]:
    """A directory of this broker, and what was consumed of it."""
    data, filled = tmp_path_factory.mktemp("ours"), Filled()
    config = {**SMALL, "group.initial.rebalance.delay.ms": "0"}
    with Emulator(config, data_dir=data) as emulator:
        create_topics(emulator.bootstrap_servers)
        for _ in range(2):
            fill(emulator.bootstrap_servers, filled)
            assert emulator.compact() >= 1
        seen = seen_of(emulator.bootstrap_servers)
    yield data, seen
    filled.open_transactions.clear()


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, SeenByIsolation]]:
    """A directory of a real Kafka, and what was consumed of it."""
    jars(VERSION)
    data, filled = tmp_path_factory.mktemp("theirs") / "data", Filled()
    config = {**SMALL, "log.cleaner.backoff.ms": "50", "log.index.size.max.bytes": "102400"}
    with RealKafka(data_dir=data, config=config) as kafka:
        create_topics(kafka.bootstrap_servers)
        for _ in range(2):
            fill(kafka.bootstrap_servers, filled)
        cleaned = data / "cleaner-offset-checkpoint"
        wait_until(lambda: "compacted 0" in cleaned.read_text(), "the cleaner has cleaned")
    # Cleaned no more, so that what is consumed is what lies there.
    with RealKafka(data_dir=data, config={**SMALL, "log.cleaner.enable": "false"}) as kafka:
        seen = seen_of(kafka.bootstrap_servers)
    yield data, seen
    filled.open_transactions.clear()


BROKERS = ["ours", pytest.param("theirs", marks=[pytest.mark.real, pytest.mark.slow])]


@pytest.fixture(params=BROKERS)
def written(request: pytest.FixtureRequest) -> tuple[Path, SeenByIsolation]:
    found: tuple[Path, SeenByIsolation] = request.getfixturevalue(request.param)
    return found


def rows_of(table: pa.Table) -> list[Seen]:
    columns = ("offset", "key", "value", "headers", "timestamp", "timestampType")
    cast = table.set_column(
        table.schema.get_field_index("timestamp"),
        "timestamp",
        table.column("timestamp").cast(pa.timestamp("ms", "UTC")).cast(pa.int64()),
    )
    return [
        Seen._make((*each[:3], tuple((h["key"], h["value"]) for h in each[3] or ()), *each[4:]))
        for each in zip(*(cast.column(name).to_pylist() for name in columns), strict=True)
    ]


def read(segments: list[Segment], wanted: Wanted, **more: Any) -> pa.Table:
    known = outcomes(segments)
    found = [each for segment in segments for each in read_segment(segment, wanted, known, **more)]
    return pa.Table.from_batches(found, wanted_schema(wanted))


def wanted_schema(wanted: Wanted) -> pa.Schema:
    return schema_of(wanted.columns)


def record_by_record(run: Run, heads: Heads, limit: int, *_: object) -> ScalarDecoder:
    return ScalarDecoder(run, heads, limit)


def partitions(data: Path) -> dict[tuple[str, int], list[Segment]]:
    found: dict[tuple[str, int], list[Segment]] = {}
    for segment in list_segments(data):
        found.setdefault((segment.topic, segment.partition), []).append(segment)
    return found


def test_both_ways_give_the_same(
    written: tuple[Path, SeenByIsolation], monkeypatch: pytest.MonkeyPatch
) -> None:
    of_all = partitions(written[0])
    assert {("codecs", 0), ("compacted", 0), ("transacted", 0)} <= set(of_all)
    for wanted in (EVERYTHING, Wanted(), Wanted(start_ms=T + 100, end_ms=T + 3000)):
        columnar = {key: read(segments, wanted) for key, segments in of_all.items()}
        with monkeypatch.context() as patch:
            patch.setattr(decoder, "ColumnarDecoder", record_by_record)
            scalar = {key: read(segments, wanted) for key, segments in of_all.items()}
        for key in of_all:
            columnar[key].validate(full=True)
            assert columnar[key].equals(scalar[key]), key
    assert {"aborted", "committed", "open", "none"} == {
        each for table in columnar_of(of_all) for each in table.column("outcome").to_pylist()
    }


def columnar_of(of_all: dict[tuple[str, int], list[Segment]]) -> list[pa.Table]:
    return [read(segments, EVERYTHING) for segments in of_all.values()]


def test_a_consumer_gets_the_same(written: tuple[Path, SeenByIsolation]) -> None:
    data, seen = written
    of_all = partitions(data)
    assert sum(map(len, seen.values())) > 5000
    for (topic, partition, isolation), expected in seen.items():
        wanted = Wanted(isolation=isolation)  # type: ignore[arg-type]
        segments = of_all.get((topic, partition), [])
        table = read(segments, wanted) if segments else schema_of(None).empty_table()
        assert rows_of(table) == expected, (topic, partition, isolation)


# Damage: a batch whose checksum is right and whose records are not.


def damaged_batch(chance: random.Random) -> bytes:
    """A batch with a change in its records section, and the checksum that fits it."""
    records = [
        NewRecord(
            T + n, chance.choice([None, b"key"]), bytes(n), [("h", b"x")] * chance.randint(0, 2)
        )
        for n in range(chance.randint(1, 4))
    ]
    batch = build_batch(records, base_offset=10, codec=chance.choice([*Codec]))
    at = chance.randrange(HEADER_SIZE, len(batch))
    match chance.randrange(3):
        case 0:
            batch[at] = chance.randrange(256)
        case 1:
            batch[60] += 1  # a count that is too high
        case _:
            batch[at] ^= 1 << chance.randrange(8)
    restamp(batch, 0, read_header(batch).max_timestamp, False)
    return bytes(batch)


def outcome_of(segment: Segment) -> tuple[list[dict[str, Any]], str]:
    rows: list[dict[str, Any]] = []
    try:
        for batch in read_segment(segment, EVERYTHING):
            rows += batch.to_pylist()
    except Damaged as damaged:
        return rows, str(damaged)
    return rows, ""


def test_both_ways_say_the_same_of_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(30)
    refused = 0
    whole = bytes(build_batch([NewRecord(T, b"k", b"v")] * 10))
    after = bytes(build_batch([NewRecord(T, b"k", b"v")], base_offset=20))
    for _ in range(600):
        (segment,) = placed(tmp_path, {0: whole + damaged_batch(chance) + after})
        found = outcome_of(segment)
        with monkeypatch.context() as patch:
            patch.setattr(decoder, "ColumnarDecoder", record_by_record)
            assert outcome_of(segment) == found
        refused += found[1] != ""
    assert 100 < refused < 600
