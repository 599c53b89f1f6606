"""How fast the storage is beside the operating system: `python -m tests.bench.bench_storage`.

Every line has a peer that was measured in the same process, on the same bytes, in the same pieces:

- append: `Log.append` of finished batches; the peer is `os.pwrite` of each.
- read: `Log.read` from the first offset to the last, each answer's bytes looked at once (CRC-32C),
  as a socket would; the peer is `os.pread`, and the same look.
- recovery: opening a log without a clean marker, so that each batch is checked; the peers are
  reading the same file in pieces of 1 MiB, and the same with one CRC-32C over it.
- partitions: opening, closing and opening again thousands of logs with one record each, in a
  process of its own; the peer is opening, reading and closing as many files.

A new page of memory or page cache is slow to get on some virtual machines (200 MB/s were seen), so
every measurement has a round before it that is thrown away, and the best of several rounds counts.
Others may be busy, so both sides take turns, and what counts is CPU time (of user and system), not
the clock's. Figures are read by people, never asserted.
"""

from __future__ import annotations

import argparse
import gc
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from crc32c import crc32c
from odradek.storage.config import LogConfig
from odradek.storage.disk.directory import Directory
from odradek.storage.log import Log
from odradek.wire.batch import BatchHeader, assign, read_header
from odradek.wire.records import NewRecord, build_batch

NOW = 1_700_000_000_000
MB = 1_000_000
PIECE = 1 << 20
TOPIC_ID = bytes(range(16))
RECORD_SIZES = (100, 1_000, 10_000)
BATCH_SIZES = (16 << 10, 1 << 20)

Batch = tuple[bytearray, BatchHeader]


def batches_of(batch_bytes: int, record_bytes: int, total: int) -> list[Batch]:
    """Batches that follow each other, about `total` bytes of them."""
    count = max(1, batch_bytes // (record_bytes + 10))
    values = [NewRecord(NOW + n, None, os.urandom(record_bytes)) for n in range(count)]
    model = build_batch(values)
    found = []
    for number in range(max(1, total // len(model))):
        batch = bytearray(model)
        assign(batch, 0, number * count, 0)
        found.append((batch, read_header(batch)))
    return found


def open_log(home: Path, *, clean: bool = False) -> Log:
    """Partition 0 of topic `t` below `home`, in one segment of any size."""
    config = LogConfig(segment_bytes=(1 << 31) - 1)
    place = Directory(home), "t", 0
    return Log.open(*place, topic_id=TOPIC_ID, config=config, now_ms=NOW, clean=clean)


def timed(work: Callable[[], object]) -> float:
    """Seconds of CPU that it takes: all of this happens in page cache."""
    gc.collect()
    begin = time.process_time()
    work()
    return time.process_time() - begin


def best(rounds: int, *works: Callable[[], float]) -> list[float]:
    """The least of what each returns, in turn, but for a first time that is thrown away."""
    found = [[work() for work in works] for _ in range(rounds + 1)][1:]
    return [min(each) for each in zip(*found, strict=True)]


@contextmanager
def emptied(home: Path) -> Iterator[Path]:
    """A directory that is new, and gone again."""
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    yield home
    shutil.rmtree(home)


def line(what: str, size: int, seconds: Sequence[float], names: Sequence[str]) -> None:
    """Ours first, then its peers: MB/s, and how ours compares."""
    rates = [size / each / MB for each in seconds]
    text = f"{what:34}{rates[0]:8.0f} MB/s"
    for name, rate in zip(names, rates[1:], strict=True):
        text += f"   {name} {rate:6.0f}, {rates[0] / rate:5.2f}x"
    print(text, flush=True)


def appends_and_reads(home: Path, total: int, rounds: int) -> None:
    """All sizes of records and batches."""
    for record_bytes in RECORD_SIZES:
        for batch_bytes in BATCH_SIZES:
            batches = batches_of(batch_bytes, record_bytes, total)
            size = sum(len(batch) for batch, _ in batches)
            what = f"{record_bytes:6} B, batches of {batch_bytes >> 10:4} KiB"
            seconds = best(rounds, lambda: append(home, batches), lambda: pwrite(home, batches))  # noqa: B023
            line(f"append {what}", size, seconds, ["pwrite"])
            with emptied(home / "read"):
                log = open_log(home / "read")
                for batch, header in batches:
                    log.append(batch, header, NOW)
                path = home / "read" / "t-0" / f"{0:020}.log"
                piece = len(batches[0][0])
                seconds = best(rounds, lambda: read(log, piece), lambda: pread(path, piece))  # noqa: B023
                line(f"read   {what}", size, seconds, ["pread"])
                log.close(clean=False)


def append(home: Path, batches: list[Batch]) -> float:
    """Seconds for a new log to take all of them."""
    with emptied(home / "append"):
        log = open_log(home / "append")

        def work() -> None:
            for batch, header in batches:
                log.append(batch, header, NOW)

        seconds = timed(work)
        log.close(clean=False)
        return seconds


def pwrite(home: Path, batches: list[Batch]) -> float:
    """Seconds for a new file to take all of them."""
    with emptied(home / "append"):
        fd = os.open(home / "append" / "file", os.O_RDWR | os.O_CREAT)

        def work() -> None:
            position = 0
            for batch, _ in batches:
                position += os.pwrite(fd, batch, position)

        seconds = timed(work)
        os.close(fd)
        return seconds


def read(log: Log, piece: int) -> float:
    """Seconds to read all of it through the log."""

    def work() -> None:
        offset = 0
        while offset < log.log_end_offset:
            data = log.read(offset, piece)
            crc32c(data)
            offset += read_header(data).last_offset_delta + 1

    return timed(work)


def pread(path: Path, piece: int) -> float:
    """Seconds to read all of the file."""
    fd = os.open(path, os.O_RDONLY)

    def work() -> None:
        position = 0
        while data := os.pread(fd, piece, position):
            crc32c(data)
            position += len(data)

    seconds = timed(work)
    os.close(fd)
    return seconds


def pread_only(path: Path, piece: int) -> float:
    """Seconds to read all of the file, and look at nothing."""
    fd = os.open(path, os.O_RDONLY)

    def work() -> None:
        position = 0
        while data := os.pread(fd, piece, position):
            position += len(data)

    seconds = timed(work)
    os.close(fd)
    return seconds


def recoveries(home: Path, total: int, rounds: int) -> None:
    """A log of small and one of large batches, opened as after a crash."""
    for batch_bytes in BATCH_SIZES:
        with emptied(home / "recovery"):
            log = open_log(home / "recovery")
            size = 0
            batches = batches_of(batch_bytes, 1_000, 16 << 20)
            while size < total:
                for batch, header in batches:
                    base = log.log_end_offset
                    assign(batch, 0, base, 0)
                    log.append(batch, header._replace(base_offset=base), NOW)
                    size += len(batch)
            log.close(clean=False)
            path = home / "recovery" / "t-0" / f"{0:020}.log"

            def recover() -> float:
                opened: list[Log] = []
                seconds = timed(lambda: opened.append(open_log(home / "recovery")))
                assert opened[0].size == size  # noqa: B023
                opened[0].close(clean=False)
                return seconds

            peers = lambda: pread_only(path, PIECE), lambda: pread(path, PIECE)  # noqa: B023
            seconds = best(rounds, recover, *peers)
            what = f"recovery {size >> 20} MiB, batches of {batch_bytes >> 10} KiB"
            line(what, size, seconds, ["read", "read and CRC"])


PARTITIONS = """
import os, resource, sys, time
from pathlib import Path
from odradek.emulator.base.node import Node
from odradek.emulator.cluster import Cluster
from odradek.emulator.config.configs import BrokerConfig
from odradek.wire.batch import read_header
from odradek.wire.records import build_batch

home, count = Path(sys.argv[1]), int(sys.argv[2])
NOW = int(time.time() * 1000)

def rss_mb():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6

def cluster():
    return Cluster(BrokerConfig({}), data_dir=home, brokers=[Node(1, "localhost", 9092)])

def lap(what, work):
    before, begin, cpu = rss_mb(), time.perf_counter(), time.process_time()
    result = work()
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    more = rss_mb() - before
    print(f"{what:34}{seconds:8.2f} s, {cpu:6.2f} s of CPU {more:+6.0f} MB of memory", flush=True)
    return result

def append(each):
    for partition in each.topic("t").partitions:
        batch = build_batch([(NOW, None, b"x" * 100, ())])
        partition.append(batch, read_header(batch), NOW)

def read_files():
    for index in range(count):
        fd = os.open(home / f"t-{index}" / f"{0:020}.log", os.O_RDWR)
        os.fstat(fd)
        os.pread(fd, 65536, 0)
        os.close(fd)

first = cluster()
lap(f"{count} partitions created", lambda: first.create_topic("t", count, {}))
lap("a record in each", lambda: append(first))
lap("closed", first.close)
second = lap("opened again", cluster)
assert all(p.log_end_offset == 1 for p in second.topic("t").partitions)
lap("closed again, nothing written", second.close)
(home / ".kafka_cleanshutdown").unlink()
third = lap("opened as after a crash", cluster)
assert all(p.log_end_offset == 1 for p in third.topic("t").partitions)
third.close()
lap("peer: as many files opened, read", read_files)
"""


def partitions(home: Path, count: int) -> None:
    """In a process of its own: what matters is also its memory."""
    with emptied(home / "partitions") as place:
        command = [sys.executable, "-c", PARTITIONS, str(place), str(count)]
        subprocess.run(command, check=True)


def main() -> None:
    """Measure what was asked for, and print it."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.bench_storage")
    parser.add_argument("--quick", action="store_true", help="an eighth of it")
    parser.add_argument("--only", choices=("append", "recovery", "partitions"))
    parser.add_argument("--dir", help="where to write (the system's temporary directory)")
    options = parser.parse_args()
    scale, rounds = (8, 2) if options.quick else (1, 3)
    with tempfile.TemporaryDirectory(prefix="odradek-bench-", dir=options.dir) as name:
        home = Path(name)
        if options.only in (None, "append"):
            appends_and_reads(home, (256 << 20) // scale, rounds)
        if options.only in (None, "recovery"):
            recoveries(home, (1 << 30) // scale, rounds)
        if options.only in (None, "partitions"):
            partitions(home, 10_000 // scale)


if __name__ == "__main__":
    main()
