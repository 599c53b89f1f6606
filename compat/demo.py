"""`python -m odradek.compat.demo`: a broker, and the stock clients at work on it.

Each client appends to the topic `orders`, then reads all of it in a consumer group of its
own: half, commit, close, and a second consumer resumes. Spark reads the topic as a batch and as a
stream that resumes from its checkpoint, and writes a batch and a stream. Everything that is
claimed is checked; the exit status is 0 only if every check held.

What is not installed is left out, with the reason. Left out on purpose: faults, time travel and
whatever else only Odradek can do. `--real` and `--bootstrap` show the same with another broker.
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .clients import CLIENTS, Client, Codec, NewRecord, Record, Unavailable, client, within
from .real_kafka import RealKafka

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ORDERS, TOTALS, COPY = "orders", "order-totals", "orders-copy"
PARTITIONS = 3
EACH = 500  # records that each client produces
LATER = 50  # records that come while Spark's stream is stopped
CUSTOMERS = 40
STEP_TIMEOUT_S = 120.0
CODECS: dict[str, Codec] = {
    "aiokafka": "gzip",
    "kafka-python": "snappy",
    "confluent-kafka": "zstd",
    "java": "lz4",
}


class CheckFailed(Exception):
    """A check failed; the text says what was seen."""


@dataclass
class Table:
    """The rows so far: client, version, what was done, what was seen, how long it took."""

    rows: list[tuple[str, str, str, str, str]] = field(default_factory=list)
    failed: bool = False

    def step(self, name: str, version: str, did: str, work: Callable[[], str]) -> None:
        """Do one step under a time limit; add a row with what it returns, or how it failed."""
        started = time.monotonic()
        try:
            saw = within(STEP_TIMEOUT_S, f"{name}: {did}", work)
        except Exception as error:
            self.failed = True
            saw = f"FAILED: {type(error).__name__}: {error}"
        self.rows.append((name, version, did, saw, f"{time.monotonic() - started:.1f} s"))

    def leave_out(self, name: str, reason: str) -> None:
        self.rows.append((name, "-", "left out", reason, ""))

    def __str__(self) -> str:
        head = ("client", "version", "did", "saw", "took")
        widths = [max(map(len, column)) for column in zip(head, *self.rows, strict=True)]
        lines = [head, tuple("-" * width for width in widths), *self.rows]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )


def check(held: bool, otherwise: str) -> None:
    if not held:
        raise CheckFailed(otherwise)


def orders(who: str, start: int, count: int) -> list[NewRecord]:
    """Return numbered orders, keyed by customer, with their producer in a header."""
    return [
        NewRecord(
            f"order {n}".encode(), f"customer-{n % CUSTOMERS}".encode(), (("by", who.encode()),)
        )
        for n in range(start, start + count)
    ]


def show_client(table: Table, bootstrap: str, stock: Client, total: int) -> None:
    """Let a client produce its share, after which `total` records are there, and read."""
    codec, group = CODECS[stock.name], f"demo-{stock.name}"

    def produce() -> str:
        sent = orders(stock.name, total - EACH, EACH)
        places = stock.produce(bootstrap, ORDERS, sent, compression=codec, idempotent=True)
        check(len(set(places)) == EACH, f"{len(set(places))} of {EACH} records have a place")
        ends = stock.end_offsets(bootstrap, ORDERS)
        check(sum(ends.values()) == total, f"the partitions end at {ends}")
        return f"acknowledged; partitions end at {_offsets(ends)}"

    def consume() -> str:
        first = stock.consume(bootstrap, ORDERS, group=group, count=total // 2)
        committed = stock.committed(bootstrap, group, ORDERS)
        second = stock.consume(bootstrap, ORDERS, group=group)
        check(sum(committed.values()) == len(first), f"committed {committed}")
        starts = _starts(second)
        resumed = all(committed.get(p, 0) == offset for p, offset in starts.items())
        check(resumed, f"resumed at {starts}, not at {committed}")
        places = {(record.partition, record.offset) for record in first + second}
        check(len(places) == len(first) + len(second) == total, f"{len(places)} distinct records")
        return f"{len(first)} records; resumed at {_offsets(committed)}, {len(second)} more"

    table.step(stock.name, stock.version, f"produced {EACH} records ({codec})", produce)
    table.step(stock.name, stock.version, "read in a group, committed, resumed", consume)


@dataclass
class SparkSteps:
    """The steps that Spark does; `stock` is the client at the other end, `work` for its files."""

    spark: SparkSession
    bootstrap: str
    stock: Client
    total: int
    work: Path

    def show(self, table: Table) -> None:
        """Do all steps, in order: each finds what those before it have left."""
        for did, step in (
            ("read a batch", self.read_batch),
            ("wrote a batch", self.write_batch),
            ("read a stream twice", self.read_stream),
            ("copied a stream", self.write_stream),
        ):
            table.step("spark", self.spark.version, did, step)

    def read_batch(self) -> str:
        by = "cast(headers[0].value as string) as by"
        rows = self._batch().selectExpr(by).groupBy("by").count().collect()
        counts = {row["by"]: row["count"] for row in rows}
        whole = sum(counts.values()) == self.total and set(counts.values()) == {EACH}
        check(whole, f"rows {counts}")
        return f"{self.total} rows, {EACH} of each client"

    def write_batch(self) -> str:
        counts = self._batch().groupBy("key").count()
        totals = counts.selectExpr("key", "cast(count as string) as value")
        self._kafka(totals.write, topic=TOTALS).save()
        records = self.stock.consume(self.bootstrap, TOTALS)
        added = sum(int(record.value or b"0") for record in records)
        whole = len(records) == CUSTOMERS and added == self.total
        check(whole, f"{len(records)} totals that add to {added}")
        return f"{len(records)} totals, read by {self.stock.name}: {added} orders"

    def read_stream(self) -> str:
        target = str(self.work / "rows")

        def rows() -> int:
            self._run(self._stream().select("value").writeStream.format("parquet"), "in", target)
            return int(self.spark.read.parquet(target).count())

        before = rows()
        self.stock.produce(self.bootstrap, ORDERS, orders(self.stock.name, self.total, LATER))
        after = rows()
        check((before, after) == (self.total, self.total + LATER), f"{before} rows, then {after}")
        return f"{before} rows; resumed from its checkpoint, {after - before} more"

    def write_stream(self) -> str:
        copied = self._stream().select("key", "value")
        self._run(self._kafka(copied.writeStream, topic=COPY), "out")
        values = sorted(record.value or b"" for record in self.stock.consume(self.bootstrap, COPY))
        wanted = sorted(record.value or b"" for record in orders("", 0, self.total + LATER))
        check(values == wanted, f"{len(values)} records in the copy")
        return f"{len(values)} records, read by {self.stock.name}: the same"

    def _kafka(self, operation: Any, **options: str) -> Any:
        with_broker = operation.format("kafka").option("kafka.bootstrap.servers", self.bootstrap)
        return with_broker.options(**options)

    def _batch(self) -> Any:
        return self._kafka(self.spark.read, subscribe=ORDERS, includeHeaders="true").load()

    def _stream(self) -> Any:
        stream = self._kafka(self.spark.readStream, subscribe=ORDERS, startingOffsets="earliest")
        return stream.load()

    def _run(self, writer: Any, checkpoint: str, *target: str) -> None:
        """Let a stream handle everything there is by now."""
        writer = writer.option("checkpointLocation", str(self.work / checkpoint))
        query = writer.trigger(availableNow=True).start(*target)
        check(query.awaitTermination(int(STEP_TIMEOUT_S) - 10), "the stream did not end")


def show_all(bootstrap: str) -> Table:
    table = Table()
    installed: list[Client] = []
    for name in CLIENTS:
        try:
            installed.append(client(name))
        except Unavailable as reason:
            table.leave_out(name, str(reason))
    if not installed:
        return table
    for topic in (ORDERS, TOTALS, COPY):
        installed[0].create_topic(bootstrap, topic, PARTITIONS)
    for number, stock in enumerate(installed, start=1):
        _say(f"{stock.name} …")
        show_client(table, bootstrap, stock, number * EACH)
    _say("Spark …")
    try:
        from .spark import spark_session

        started = time.monotonic()
        spark = spark_session("odradek-demo")
    except Unavailable as reason:
        table.leave_out("spark", str(reason))
        return table
    _say(f"Spark has started in {time.monotonic() - started:.1f} s …")
    with tempfile.TemporaryDirectory(prefix="odradek-demo-") as work:
        total = len(installed) * EACH
        SparkSteps(spark, bootstrap, installed[-1], total, Path(work)).show(table)
    spark.stop()
    return table


def describe_segments(directory: Path) -> str:
    """Return where the demo's segments are and how large they are."""
    parts = []
    for topic in (ORDERS, TOTALS, COPY):
        sizes = [path.stat().st_size for path in directory.glob(f"{topic}-[0-9]*/*.log")]
        parts.append(f"{topic} {len(sizes)} files, {sum(sizes):,} bytes")
    return f"segments in {directory}: {'; '.join(parts)}"


@contextmanager
def broker(arguments: argparse.Namespace) -> Iterator[tuple[str, Path | None]]:
    """Start or name the broker that was asked for; yield its address and data directory."""
    if arguments.bootstrap:
        yield arguments.bootstrap, None
    elif arguments.real:
        with RealKafka(data_dir=arguments.data_dir) as node:
            yield node.bootstrap_servers, node.data_dir
    else:
        from ..emulator.embedded.embedded import Embedded

        config = {"group.initial.rebalance.delay.ms": 0}
        with Embedded(config, data_dir=arguments.data_dir) as emulator:
            yield emulator.bootstrap_servers, emulator.data_dir


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="odradek.compat.demo", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--bootstrap", metavar="ADDR", help="use the broker at this address")
    parser.add_argument("--real", action="store_true", help="use a real Apache Kafka")
    parser.add_argument("--data-dir", type=Path, metavar="DIR", help="keep the segments there")
    options = parser.parse_args(arguments)
    logging.disable(logging.ERROR)  # clients log errors until they have found a coordinator
    warnings.simplefilter("ignore")
    started = time.monotonic()
    try:
        with broker(options) as (bootstrap, data_dir):
            _say(f"broker at {bootstrap}, up in {time.monotonic() - started:.2f} s")
            table = show_all(bootstrap)
            segments = describe_segments(data_dir) if data_dir is not None else ""
    except Unavailable as reason:
        print(f"no broker: {reason}", file=sys.stderr)
        return 1
    print(f"\n{table}\n")
    if segments:
        print(segments + ("" if options.data_dir else " (gone now; --data-dir keeps them)"))
    held = "a check failed" if table.failed else "every check held"
    print(f"{held}; {time.monotonic() - started:.1f} s in all")
    return int(table.failed)


def _say(text: str) -> None:
    print(text, flush=True)


def _starts(records: list[Record]) -> dict[int, int]:
    starts: dict[int, int] = {}
    for record in records:
        starts[record.partition] = min(record.offset, starts.get(record.partition, record.offset))
    return starts


def _offsets(offsets: dict[int, int]) -> str:
    return " ".join(f"{partition}:{offset}" for partition, offset in sorted(offsets.items()))


if __name__ == "__main__":
    sys.exit(main())
