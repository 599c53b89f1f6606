"""`python -m tests.clients.spark.volume`: 10 million rows into a topic and out of it, by Spark.

Rows are made, written and summed up where Spark runs its tasks: the driver gets the sums alone.
With a number it is so many rows; with --real it is a real Kafka.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any, NamedTuple

ROWS_IN_TESTS = 300_000
ROWS = 10_000_000
PARTITIONS = 4


class Sums(NamedTuple):
    """What a set of rows amounts to, whatever their order."""

    rows: int
    keys: int
    values: int


class Passage(NamedTuple):
    """What went in and what came out, and how long each took."""

    written: Sums
    read: Sums
    seconds_in: float
    seconds_out: float


def sums(frame: Any) -> Sums:
    """Count and checksums of a frame's keys and values."""
    row = frame.selectExpr(
        "count(*) AS rows",
        "CAST(sum(CAST(crc32(key) AS DECIMAL(20, 0))) AS LONG) AS keys",
        "CAST(sum(CAST(crc32(value) AS DECIMAL(20, 0))) AS LONG) AS values",
    ).first()
    return Sums(*row)


def there_and_back(spark: Any, options: dict[str, str], topic: str, rows: int) -> Passage:
    """Write so many rows to a topic, and read them."""
    made = spark.range(rows).selectExpr(
        "CAST(CAST(id % 1000 AS STRING) AS BINARY) AS key",
        "CAST(concat('value ', id, ' ', sha1(CAST(CAST(id AS STRING) AS BINARY))) AS BINARY)"
        " AS value",
    )
    begin = time.perf_counter()
    made.write.format("kafka").options(**options, topic=topic).save()
    written = time.perf_counter()
    back = spark.read.format("kafka").options(**options, subscribe=topic).load()
    found = sums(back.select("key", "value"))
    end = time.perf_counter()
    return Passage(sums(made), found, written - begin, end - written)


def main() -> int:
    """Run it and say what was seen; 0 if the sums are equal."""
    from odradek import Emulator
    from odradek.compat import RealKafka
    from odradek.compat.clients import client
    from odradek.compat.spark import spark_session

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=int, nargs="?", default=ROWS)
    parser.add_argument("--real", action="store_true")
    chosen = parser.parse_args()
    with RealKafka() if chosen.real else Emulator() as kafka:
        client("java").create_topic(kafka.bootstrap_servers, "numbers", partitions=PARTITIONS)
        spark = spark_session("volume")
        options = {"kafka.bootstrap.servers": kafka.bootstrap_servers}
        passage = there_and_back(spark, options, "numbers", chosen.rows)
        spark.stop()
    equal = passage.written == passage.read
    print(f"written {passage.written} in {passage.seconds_in:.1f} s")
    print(f"read    {passage.read} in {passage.seconds_out:.1f} s")
    print("equal" if equal else "DIFFERENT")
    return not equal


if __name__ == "__main__":
    sys.exit(main())
