"""How fast segment files are read as Arrow, and with how much memory.

    python -m tests.bench.bench_decoder [--rows N] [--batch-bytes N] [--repeat N] [--spark]

For each size of record and codec a topic is written (by SegmentWriter, which is timed too), and its
offsets, times, keys and values are read: by the decoder; by a plain Python loop over the same
batches, which makes a tuple of each record; and by confluent-kafka from a broker on the same
directory, in a process of its own, with large fetches; with --spark also by Spark's stock connector
from that broker, in one task, which sums up the same columns in the JVM. All of it is in the page
cache. Rows and megabytes of keys and values a second, the best of the repeats; the memory is the
decoder's own process's.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
from odradek.compat.spark import spark_session
from odradek.compat.spark.segments import (
    Segment,
    SegmentWriter,
    Wanted,
    list_segments,
    make_data_directory,
    read_segment,
)
from odradek.wire.batch import batches, checksum
from odradek.wire.records import read_records

from tests.clients.support.broker_process import Served
from tests.support.processes import HAS_PROC, describe_machine

SIZES = (100, 1000)
CODECS = ("none", "lz4", "zstd")
COLUMNS = ("offset", "timestamp", "key", "value")
KEY_BYTES = 8
SEGMENT_BYTES = 64 << 20
LOOP_RECORDS = 100_000
"""The plain loop reads about so many, for it takes long."""
WORDS = [bytes(random.Random(n).choices(b"abcdefghijklmnop", k=8)) for n in range(1024)]


def name_of(size: int, codec: str) -> str:
    return f"of-{size}-{codec}"


def rows(first: int, count: int, size: int) -> pa.RecordBatch:
    """Text of random words: codecs find something to do in it."""
    choose = random.Random(first)
    words = (size - KEY_BYTES) // 8 + 1
    values = [b"".join(choose.choices(WORDS, k=words))[: size - KEY_BYTES] for _ in range(count)]
    return pa.record_batch(
        {"key": [b"%08d" % n for n in range(first, first + count)], "value": values}
    )


def write(data: Path, size: int, codec: str, records: int, batch_bytes: int) -> float:
    """Fill a topic; seconds of writing."""
    seconds = 0.0
    options: dict[str, Any] = {"codec": codec, "batch_bytes": batch_bytes}
    with SegmentWriter(data, name_of(size, codec), 0, segment_bytes=SEGMENT_BYTES, **options) as to:
        for first in range(0, records, 50_000):
            some = rows(first, min(50_000, records - first), size)
            begin = time.perf_counter()
            to.write(some)
            seconds += time.perf_counter() - begin
    return seconds


def decode(segments: list[Segment], _: str) -> int:
    wanted = Wanted(columns=COLUMNS, isolation="read_uncommitted")
    return sum(batch.num_rows for each in segments for batch in read_segment(each, wanted))


def loop(segments: list[Segment], _: str) -> int:
    """Read record by record, checksums checked."""
    found = []
    for segment in segments:
        data = Path(segment.path).read_bytes()
        for position, header in batches(data):
            assert checksum(data, position, header.size) == header.crc
            for record in read_records(data, position):
                row = record.offset, record.timestamp, record.key, record.value
                found.append(row)
            if len(found) >= LOOP_RECORDS:
                return len(found)
    return len(found)


def consume(segments: list[Segment], address: str) -> int:
    """The same with librdkafka, each record looked at."""
    import confluent_kafka as confluent

    consumer = confluent.Consumer(
        {
            "bootstrap.servers": address,
            "group.id": "none",
            "enable.auto.commit": False,
            "check.crcs": True,
            "fetch.message.max.bytes": 16 << 20,
            "fetch.max.bytes": 64 << 20,
            "queued.max.messages.kbytes": 256 << 10,
            "enable.partition.eof": True,
        }
    )
    consumer.assign([confluent.TopicPartition(segments[0].topic, 0, 0)])
    found = []
    while True:
        for message in consumer.consume(10_000, 0.2):
            if message.error() is not None:
                consumer.close()
                return len(found)
            row = message.offset(), message.timestamp()[1], message.key(), message.value()
            found.append(row)


def connector(spark: Any) -> Callable[[list[Segment], str], int]:
    """The same with Spark's stock connector. A partition is one task."""

    def way(segments: list[Segment], address: str) -> int:
        reading = spark.read.format("kafka").option("kafka.bootstrap.servers", address)
        frame = reading.option("subscribe", segments[0].topic).load()
        sums = ("sum(offset)", "max(timestamp)", "sum(length(key))", "sum(length(value))")
        row = frame.selectExpr("count(1) AS rows", *sums).first()
        return int(row["rows"])

    return way


def rate(
    way: Callable[[list[Segment], str], int], segments: list[Segment], address: str, repeat: int
) -> float:
    """Rows a second, the best of the repeats."""
    best = 0.0
    for _ in range(repeat):
        begin = time.perf_counter()
        count = way(segments, address)
        best = max(best, count / (time.perf_counter() - begin))
    return best


def _peak(data: Path, queue: Any) -> None:
    before = _high_water()
    decode(list_segments(data), "")
    queue.put((before, _high_water()))


def _high_water() -> int:
    """KB of the most resident memory; getrusage would tell the parent's, too."""
    if not HAS_PROC:
        return 0
    found = re.search(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1])


def memory(data: Path) -> tuple[int, int]:
    """Peak memory (MB) of a process before and after it has decoded every topic."""
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=_peak, args=(data, queue))
    process.start()
    before, after = queue.get()
    process.join()
    return before // 1024, after // 1024


def measure(data: Path, options: argparse.Namespace, spark: Any) -> None:
    """Write the topics and print the table."""
    ways = [decode, loop, consume, *([connector(spark)] if spark is not None else [])]
    peers = ["loop", "confluent", "connector"][: len(ways) - 1]
    print(f"{'':11}{'write':>10}{'decode':>12}{'':>8}" + "".join(f"{x:>11}" for x in peers), end="")
    print("   decode to")
    print(
        f"{'':11}{'rows/s':>10}{'rows/s':>12}{'MB/s':>8}" + f"{'rows/s':>11}" * len(peers), end=""
    )
    print("".join(f"{x:>11}" for x in peers))
    cases = [(size, codec) for size in SIZES for codec in CODECS]
    make_data_directory(data, {name_of(*case): 1 for case in cases})
    written = {}
    for size, codec in cases:
        rows = options.rows * SIZES[0] // size * (2 if size > SIZES[0] else 1)
        written[size, codec] = rows / write(data, size, codec, rows, options.batch_bytes)
    with Served(data, port=0) as served:
        for size, codec in cases:
            segments = list_segments(data, [name_of(size, codec)])
            ours, *theirs = (
                rate(way, segments, served.bootstrap_servers, options.repeat) for way in ways
            )
            print(
                f"{size:>5} {codec:<5}{written[size, codec]:>10,.0f}{ours:>12,.0f}"
                f"{ours * size / 1e6:>8,.0f}"
                + "".join(f"{each:>11,.0f}" for each in theirs)
                + "".join(f"{ours / each:>10.1f}x" for each in theirs),
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.bench_decoder")
    parser.add_argument("--rows", type=int, default=400_000, help="of 100 bytes (400000)")
    parser.add_argument("--batch-bytes", type=int, default=16_000, help="a batch (16000)")
    parser.add_argument("--repeat", type=int, default=3, help="take the best of so many (3)")
    parser.add_argument("--spark", action="store_true", help="also Spark's stock connector")
    options = parser.parse_args()
    print(f"machine: {describe_machine()}; batches of {options.batch_bytes} bytes\n")
    spark = spark_session("bench") if options.spark else None
    with tempfile.TemporaryDirectory() as home:
        data = Path(home)
        measure(data, options, spark)
        before, after = memory(data)
        size = sum(each.size for each in list_segments(data)) >> 20
        print(
            f"\nmemory: {after} MB at most for {size} MB of segments, {before} of it at the start"
        )
    if spark is not None:
        spark.stop()


if __name__ == "__main__":
    main()
