"""How fast Spark reads a topic: `format("odradek")` from its directory, the stock connector from a
broker, in one session.

    python -m tests.bench.bench_source [--rows N] [--partitions N] [--runs N] [--real] [--sink]

Writes a directory of records (16 bytes of key, 100 of value, lz4), starts a broker on it (the
emulator, with --real a real Kafka), and lets both formats count and sum everything, in turns, after
one run each that is not counted. Prints rows and megabytes a second of the best run, and the ratio.
--sink also copies the topic through both sinks, into a directory and into the broker.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from odradek import Emulator
from odradek.compat.real_kafka import RealKafka
from odradek.compat.spark import spark_session
from odradek.compat.spark.segments import SegmentWriter, list_segments, make_data_directory
from odradek.compat.spark.source import register

from tests.support.processes import describe_machine

KEY_BYTES, VALUE_BYTES = 16, 100
BLOCK = 100_000
TOPIC = "t"
SUMS = ("count(1)", "sum(length(key) + length(value))", "sum(offset)", "max(timestamp)")
CONFIG = {"log.retention.ms": "-1"}


def write(home: Path, records: int, partitions: int) -> int:
    """Fill the topic; returns the bytes of its segments."""
    make_data_directory(home, {TOPIC: partitions})
    random = np.random.default_rng(1)
    for partition in range(partitions):
        with SegmentWriter(home, TOPIC, partition, codec="lz4", segment_bytes=64 << 20) as writer:
            for start in range(0, records // partitions, BLOCK):
                writer.write(_block(random, min(BLOCK, records // partitions - start)))
    return sum(segment.size for segment in list_segments(home, [TOPIC]))


def _block(random: np.random.Generator, count: int) -> pa.RecordBatch:
    """Records whose values compress as text does, by about half."""
    keys, values = (
        random.integers(97, 113, count * width, np.uint8).tobytes()
        for width in (KEY_BYTES, VALUE_BYTES)
    )
    columns = {
        "key": _fixed(keys, count, KEY_BYTES),
        "value": _fixed(values, count, VALUE_BYTES),
    }
    return pa.RecordBatch.from_pydict(columns)


def _fixed(data: bytes, count: int, width: int) -> pa.Array:
    kind = pa.binary(width)
    return pa.Array.from_buffers(kind, count, [None, pa.py_buffer(data)]).cast(pa.binary())


def best(runs: int, ways: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The seconds of each way's best run, in turns, after one that is not counted."""
    seconds: dict[str, float] = {}
    for run in range(runs + 1):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            took = time.perf_counter() - start
            if run:
                seconds[name] = min(took, seconds.get(name, took))
    return seconds


def show(what: str, records: int, size: int, seconds: dict[str, float]) -> None:
    """Print one line for each way, and how the first compares with the second."""
    for name, took in seconds.items():
        rate, megabytes = records / took, size / took / 1e6
        print(f"{what:8} {name:18} {took:8.2f} s {rate:12,.0f} rows/s {megabytes:8.1f} MB/s")
    ours, theirs = seconds.values()
    print(f"{what:8} {theirs / ours:.2f} times as fast as the connector")


def read(spark: Any, home: Path, servers: str, options: argparse.Namespace, size: int) -> None:
    """Measure reading."""
    ours = spark.read.format("odradek").option("subscribe", TOPIC)
    connector = spark.read.format("kafka").option("subscribe", TOPIC)
    connector = connector.option("kafka.bootstrap.servers", servers)
    found: set[tuple[Any, ...]] = set()

    def summed(frame: Any) -> None:
        found.add(tuple(frame.selectExpr(*SUMS).collect()[0]))

    seconds = best(
        options.runs,
        {
            "odradek": lambda: summed(ours.load(str(home))),
            "connector": lambda: summed(connector.load()),
        },
    )
    assert len(found) == 1, f"the formats differ: {found}"
    show("read", options.rows, size, seconds)


def copy(spark: Any, home: Path, servers: str, options: argparse.Namespace, size: int) -> None:
    """Measure writing: the same frame into a new directory each time, and into the broker."""
    frame = spark.read.format("odradek").option("columns", "key,value").load(str(home))
    kafka = {"kafka.bootstrap.servers": servers, "kafka.compression.type": "lz4", "topic": "copy"}
    own = {"kafka.compression.type": "lz4", "topic": "copy", "numPartitions": "2"}

    def into_directory() -> None:
        with tempfile.TemporaryDirectory() as other:
            frame.write.format("odradek").mode("append").options(**own).save(other)

    seconds = best(
        options.runs,
        {
            "odradek": into_directory,
            "connector": lambda: frame.write.format("kafka").options(**kafka).save(),
        },
    )
    show("write", options.rows, size, seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--partitions", type=int, default=4)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--real", action="store_true", help="a real Kafka instead of the emulator")
    parser.add_argument("--sink", action="store_true", help="also the sinks")
    options = parser.parse_args()
    print(describe_machine())
    with tempfile.TemporaryDirectory() as path:
        home = Path(path) / "data"
        size = write(home, options.rows, options.partitions)
        print(f"{options.rows:,} records, {size / 1e6:.0f} MB, {options.partitions} partitions")
        broker = RealKafka(data_dir=home, config=CONFIG) if options.real else None
        spark = register(spark_session("odradek-bench"))
        with broker or Emulator(CONFIG, data_dir=home) as kafka:
            read(spark, home, kafka.bootstrap_servers, options, size)
            if options.sink:
                copy(spark, home, kafka.bootstrap_servers, options, size)
        spark.stop()


if __name__ == "__main__":
    main()
