"""How fast logs are compacted, and with how much memory.

    python -m tests.bench.bench_compaction [--records N] [--keys N] [--kafka] [--python]

Writes a log of small records (16 bytes of key, 64 of value) in batches of 500, compacts it once and
prints records and megabytes a second, the memory it took, and beside it a peer of the same run: the
same bytes read and written without looking at them, and with --kafka what a real broker takes for
the same directory. --python has the maps in Python even where those in C are built.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import re
import shutil
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from odradek.storage.checkpoints import read_partition_metadata
from odradek.storage.compaction import offset_map as compaction_map
from odradek.storage.compaction.compactor import CompactionResult
from odradek.storage.config import LogConfig
from odradek.storage.disk.directory import Directory
from odradek.storage.log import Log
from odradek.wire.batch import read_header
from odradek.wire.records import build_batch

TOPICS = "org.apache.kafka.tools.TopicCommand"
CLEANER = "org.apache.kafka.storage.internals.log.LogCleaner$CleanerThread"
PER_BATCH = 500
KEY_BYTES, VALUE_BYTES = 16, 64
SEGMENT_BYTES = 64 << 20
PREPARED = 2000
"""Batches are made once and written again and again, with other offsets."""


def open_log(path: Path, topic_id: bytes = bytes(range(16))) -> Log:
    config = LogConfig(segment_bytes=SEGMENT_BYTES, cleanup_policy=frozenset({"compact"}))
    directory = Directory(path)
    return Log.open(directory, "t", 0, topic_id=topic_id, config=config, now_ms=0, clean=True)


def write(path: Path, records: int, keys: int, topic_id: bytes) -> int:
    """Fill a log; returns its bytes."""
    choose = random.Random(1)
    log = open_log(path, topic_id)
    prepared = []
    now_ms = int(time.time() * 1000)
    for _ in range(min(PREPARED, records // PER_BATCH)):
        content = [
            (now_ms, b"%016d" % choose.randrange(keys), choose.randbytes(VALUE_BYTES), ())
            for _ in range(PER_BATCH)
        ]
        prepared.append(build_batch(content, leader_epoch=0))
    for number in range(records // PER_BATCH + 1):
        if number == records // PER_BATCH:  # the last one is for the active segment
            log.begin_segment(now_ms)
        batch = prepared[number % len(prepared)]
        batch[0:8] = (number * PER_BATCH).to_bytes(8, "big")
        log.append(batch, read_header(batch), now_ms)
    size = log.size
    log.close()
    return size


class Seconds(NamedTuple):
    """By the clock, and of processor time."""

    clock: float
    cpu: float

    @classmethod
    def now(cls) -> Seconds:
        return cls(time.perf_counter(), time.process_time())

    def passed(self) -> Seconds:
        now = self.now()
        return Seconds(now.clock - self.clock, now.cpu - self.cpu)


def copy(path: Path) -> Seconds:
    """Seconds it takes to read and write the same bytes."""
    begun = Seconds.now()
    for source in sorted(path.glob("t-0/*.log")):
        with source.open("rb") as data, (path / "copy").open("wb") as out:
            while chunk := data.read(1 << 20):
                out.write(chunk)
    (path / "copy").unlink()
    return begun.passed()


def peak_mb() -> float:
    """The most memory this program has had (Linux); ru_maxrss would count its parent's too."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def kafka_seconds(path: Path, args: argparse.Namespace) -> Seconds:
    """What a broker's cleaner says it took for the same log, both passes."""
    from odradek.compat.real_kafka import JVM, RealKafka

    broker = {"log.cleaner.backoff.ms": "50", "log.cleaner.dedupe.buffer.size": "134217728"}
    jvm = [option for option in JVM if "TieredStopAtLevel" not in option and "Xmx" not in option]
    jvm += ["-Xmx1g", f"-Dorg.slf4j.simpleLogger.log.{CLEANER}=info"]
    with RealKafka(config=broker, data_dir=path / "kafka", jvm=jvm) as kafka:
        made = kafka.tool(
            *(TOPICS, "--bootstrap-server", kafka.bootstrap_servers, "--create", "--topic", "t"),
            *("--config", "cleanup.policy=compact", "--config", f"segment.bytes={SEGMENT_BYTES}"),
        )
        assert made.returncode == 0, made.stderr
        kafka.stop()
        theirs = kafka.data_dir / "t-0"
        topic_id = read_partition_metadata((theirs / "partition.metadata").read_bytes())
        shutil.rmtree(theirs)
        write(kafka.data_dir, args.records, args.keys, topic_id)
        for name in ("recovery-point-offset-checkpoint", "replication-offset-checkpoint"):
            (kafka.data_dir / name).write_text(f"0\n1\nt 0 {args.records + PER_BATCH}\n")
        kafka.start()
        for _ in range(1200):
            if found := re.search(r"cleaned log t-0.*?in ([\d.]+) seconds", kafka.log, re.DOTALL):
                return Seconds(float(found[1]), 0.0)  # what it took of the processor is not known
            time.sleep(0.1)
        raise RuntimeError(f"Kafka did not compact the log:\n{kafka.log[-2000:]}")


def measured(path: Path, records: int, in_c: bool) -> tuple[Seconds, CompactionResult, float]:
    """Seconds of a compaction, what it did, and the memory it took (MB) beyond what was there.

    To be called in a process of its own, which has done nothing else.
    """
    compaction_map.HAVE_C = in_c
    log = open_log(path)
    before = peak_mb()
    begun = Seconds.now()
    result = log.compactor.compact(int(time.time() * 1000))
    seconds = begun.passed()
    used = peak_mb() - before
    log.close(clean=False)
    assert result.records_before == records
    return seconds, result, used


def main(args: argparse.Namespace) -> None:
    path = Path(tempfile.mkdtemp(prefix="odradek-bench-"))
    in_c = compaction_map.HAVE_C and not args.python
    try:
        size = write(path, args.records, args.keys, bytes(range(16)))
        copied = copy(path)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            seconds, result, used = pool.apply(measured, (path, args.records, in_c))
        kept, left = result.records_after, result.bytes_after >> 20
        print(f"{args.records:,} records, {size >> 20} MB, {args.keys:,} keys")
        print(f"kept {kept:,} records, {left} MB; the map is in {'C' if in_c else 'Python'}")
        print(line("compaction", seconds, args.records, size), f"  memory +{used:.0f} MB")
        print(line("a raw copy", copied, args.records, size))
        if args.kafka:
            print(line("Apache Kafka", kafka_seconds(path, args), args.records, size))
    finally:
        shutil.rmtree(path)


def line(name: str, seconds: Seconds, records: int, size: int) -> str:
    rate, megabytes = records / seconds.clock, size / seconds.clock / (1 << 20)
    speed = f"{rate:13,.0f} records/s {megabytes:6.0f} MB/s"
    return f"{name:13}{seconds.clock:8.2f} s {speed}  CPU {seconds.cpu:.2f} s"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--records", type=int, default=10_000_000)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--kafka", action="store_true")
    parser.add_argument("--python", action="store_true")
    main(parser.parse_args())
