"""`python -m tests.bench.bench_pipeline`: the commands on both engines, time and memory.

    python -m tests.bench.bench_pipeline --rows 10000000 --engines arrow

Each command runs as a user runs it, in a process of its own. Its memory is that of the driver (the
command itself), of the largest worker (a process of the Arrow engine, or a Python worker of Spark),
and of Spark's JVM: the most that each has ever held. The rows are about 120 bytes, one in two with
a header; values are words, so that codecs have something to do.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
from odradek.compat.spark.segments.schema import HEADERS, schema_of

from tests.support.processes import describe_machine

CHUNK = 100_000
PARTITIONS = 4


@dataclass
class Memory:
    """The most that each kind of process held, in MB."""

    driver: int = 0
    worker: int = 0
    jvm: int = 0


@dataclass
class Measured:
    """One command."""

    what: str
    engine: str
    seconds: float
    rows: int
    memory: Memory

    def line(self) -> str:
        """A line of the table."""
        memory = self.memory
        rate = self.rows / self.seconds
        return (
            f"{self.what:<28}{self.engine:<7}{self.seconds:>8.1f} s{rate:>12,.0f}"
            f"{memory.driver:>8}{memory.worker:>8}{memory.jvm or '-':>8}"
        )


def make_rows(path: Path, rows: int) -> None:
    """A Parquet file of records."""
    drawn = np.random.default_rng(7)
    words = pa.array([f"word{n:03}" for n in range(500)])
    headers = pa.array([None, [{"key": "source", "value": b"bench"}]], HEADERS)
    schema = schema_of(("key", "value", "partition", "timestamp", "headers"))
    with pa.parquet.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, CHUNK):
            numbers = np.arange(start, min(start + CHUNK, rows))
            chosen = drawn.integers(0, len(words), (12, len(numbers)))
            text = pc.binary_join_element_wise(*(words.take(pa.array(w)) for w in chosen), " ")
            value = pc.binary_join_element_wise(
                '{"id":', _text(numbers), ',"text":"', text, '"}', ""
            )
            columns = {
                "key": _text(numbers * 7919 % 100_003).cast(pa.binary()),
                "value": value.cast(pa.binary()),
                "partition": pa.array(numbers % PARTITIONS, pa.int32()),
                "timestamp": pa.array(1_760_000_000_000_000 + numbers * 1000, pa.int64()).cast(
                    pa.timestamp("us", "UTC")
                ),
                "headers": headers.take(pa.array(numbers % 2)),
            }
            writer.write_table(pa.table(columns, schema=schema))


def _text(numbers: np.ndarray) -> pa.Array:
    return pa.array(numbers).cast(pa.string())


def run(what: str, engine: str, arguments: Sequence[str]) -> Measured:
    """Run `odradek ARGUMENTS` and watch its processes."""
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "odradek", *arguments, "--engine", engine, "--json"],
        stdout=subprocess.PIPE,
        text=True,
    )
    memory, is_over = Memory(), threading.Event()
    watching = threading.Thread(target=watch, args=(process.pid, memory, is_over))
    watching.start()
    out, _ = process.communicate()
    seconds = time.monotonic() - began
    is_over.set()
    watching.join()
    if process.returncode:
        raise SystemExit(f"{what} on {engine} ended with status {process.returncode}")
    return Measured(what, engine, seconds, rows_of(json.loads(out)), memory)


def rows_of(result: dict[str, Any]) -> int:
    """How many rows a command has looked at, from its summary."""
    if "records" in result:  # of diff: both sides
        return sum(result["records"].values())
    if "partitions" in result:  # of audit
        return sum(each["records"] for each in result["partitions"])
    if "topics" in result:  # of profile
        return sum(each["records"] for each in result["topics"].values())
    return int(result["rows"])


def watch(root: int, memory: Memory, is_over: threading.Event) -> None:
    """Look at the processes below one every now and then."""
    while not is_over.wait(0.1):
        parents = {int(name): _parent(name) for name in os.listdir("/proc") if name.isdigit()}
        for each in parents:
            if each == root:
                memory.driver = max(memory.driver, _peak_mb(each))
            elif root in _ancestors(each, parents):
                kind = "jvm" if _name(each) == "java" else "worker"
                setattr(memory, kind, max(getattr(memory, kind), _peak_mb(each)))


def _ancestors(process: int, parents: dict[int, int]) -> Iterator[int]:
    while process in parents:
        process = parents[process]
        yield process


def _parent(name: str) -> int:
    try:
        return int(Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _name(process: int) -> str:
    try:
        return Path(f"/proc/{process}/comm").read_text().strip()
    except OSError:
        return ""


def _peak_mb(process: int) -> int:
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    found = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")]
    return int(found[0]) // 1024 if found else 0


@contextmanager
def broker(directory: Path) -> Iterator[str]:
    """A broker in a process of its own; gives its address."""
    command = [sys.executable, "-m", "odradek", "serve", "--port", "0"]
    serving = subprocess.Popen(
        [*command, "--data-dir", str(directory), "--set", "log.retention.ms=-1"],  # rows are old
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert serving.stdout is not None
    try:
        yield next(
            word
            for word in serving.stdout.readline().split()
            if word.count(":") == 1 and word.rpartition(":")[2].isdigit()
        )
    finally:
        serving.terminate()
        serving.wait(60)


def commands(where: Path, address: str, engine: str) -> Iterator[tuple[str, list[str]]]:
    """What is measured, in order: each needs those before it."""
    file, data = str(where / "rows.parquet"), str(where / f"{engine}-data")
    create = ["--create-topic", str(PARTITIONS)]
    yield "load into segments", ["load", file, f"{data}/bench", *create]
    yield (
        "load into segments, zstd",
        ["load", file, f"{data}-zstd/bench", *create, "--codec", "zstd"],
    )
    yield "load into a topic", ["load", file, f"{address}/{engine}", *create]
    folder = ["--format", "parquet", "--overwrite"]
    out = str(where / "out")
    yield "export segments, parquet", ["export", f"{data}/bench", out, *folder]
    yield "export segments, zstd", ["export", f"{data}-zstd/bench", out, *folder]
    yield "export a topic, parquet", ["export", f"{address}/{engine}", out, *folder]
    yield (
        "export segments, jsonl",
        ["export", f"{data}/bench", out, "--format", "jsonl", "--overwrite"],
    )
    twin = f"{data}-zstd/bench"
    yield "diff of segments, by offset", ["diff", f"{data}/bench", twin]
    yield "diff of segments, by key", ["diff", f"{data}/bench", twin, "--by", "key"]
    yield "audit of segments", ["audit", f"{data}/bench"]
    yield "profile of segments", ["profile", f"{data}/bench"]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.bench_pipeline")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--engines", nargs="+", default=["arrow", "spark"])
    parser.add_argument("--only", default="", help="pattern of the names of what is to be measured")
    options = parser.parse_args()
    where = Path(tempfile.mkdtemp(prefix="bench-pipeline-"))
    os.environ["XDG_STATE_HOME"] = str(where / "state")
    try:
        make_rows(where / "rows.parquet", options.rows)
        size = (where / "rows.parquet").stat().st_size >> 20
        print(describe_machine())
        print(f"{options.rows:,} rows, {size} MB of Parquet, {PARTITIONS} partitions; memory in MB")
        print(
            f"{'':<28}{'engine':<7}{'time':>10}{'rows/s':>12}{'driver':>8}{'worker':>8}{'JVM':>8}"
        )
        with broker(where / "served") as address:
            for engine in options.engines:
                for what, arguments in commands(where, address, engine):
                    if re.search(options.only, what):
                        measured = run(what, engine, arguments)
                        print(measured.line(), flush=True)
                        sides = 2 if what.startswith("diff") else 1
                        assert measured.rows == sides * options.rows
    finally:
        shutil.rmtree(where, ignore_errors=True)


if __name__ == "__main__":
    main()
