"""How fast logs are compacted, and with how much memory.

    python -m tests.bench.bench_compaction [--records 10000000] [--keys 1000000] [--kafka] [--python]

Writes a log of small records (16 bytes of key, 64 of value) in batches of 500, compacts it once and
prints records and megabytes a second, the memory it took, and beside it a peer of the same run: the
same bytes read and written without looking at them, and with --kafka what a real broker takes for
the same directory. --python has the maps in Python even where those in C are built.
"""

from __future__ import annotations

import argparse
import random
import resource
import shutil
import tempfile
import time
from pathlib import Path

from odradek.storage import compaction_map
from odradek.storage.checkpoints import read_partition_metadata
from odradek.storage.config import LogConfig
from odradek.storage.directory import Directory
from odradek.storage.log import Log
from odradek.wire.batch import read_header
from odradek.wire.records import build_batch

TOPICS = "org.apache.kafka.tools.TopicCommand"
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
            log._begin_segment(now_ms)
        batch = prepared[number % len(prepared)]
        batch[0:8] = (number * PER_BATCH).to_bytes(8, "big")
        log.append(batch, read_header(batch), now_ms)
    size = log.size
    log.close()
    return size


def copy(path: Path) -> float:
    """Seconds it takes to read and write the same bytes."""
    begun = time.perf_counter()
    for source in sorted(path.glob("t-0/*.log")):
        with source.open("rb") as data, (path / "copy").open("wb") as out:
            while chunk := data.read(1 << 20):
                out.write(chunk)
    (path / "copy").unlink()
    return time.perf_counter() - begun


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def kafka_seconds(path: Path, records: int) -> float:
    """Seconds from a broker's start with this log to its line in the cleaner's checkpoint."""
    from odradek.compat.real_kafka import JVM, RealKafka

    broker = {"log.cleaner.backoff.ms": "50", "log.cleaner.dedupe.buffer.size": "134217728"}
    jvm = [option for option in JVM if "TieredStopAtLevel" not in option and "Xmx" not in option]
    with RealKafka(config=broker, data_dir=path / "kafka", jvm=[*jvm, "-Xmx1g"]) as kafka:
        made = kafka.tool(
            *(TOPICS, "--bootstrap-server", kafka.bootstrap_servers, "--create", "--topic", "t"),
            *("--config", "cleanup.policy=compact", "--config", f"segment.bytes={SEGMENT_BYTES}"),
        )
        assert made.returncode == 0, made.stderr
        kafka.stop()
        theirs = kafka.data_dir / "t-0"
        topic_id = read_partition_metadata((theirs / "partition.metadata").read_bytes())
        shutil.rmtree(theirs)
        write(kafka.data_dir, records, ARGS.keys, topic_id)
        for name in ("recovery-point-offset-checkpoint", "replication-offset-checkpoint"):
            end = f"0\n1\nt 0 {records}\n"
            (kafka.data_dir / name).write_text(end)
        kafka.start()
        before = None
        while True:  # the first files it writes say when it began, the checkpoint when it ended
            if before is None and list(theirs.glob("*.cleaned")):
                before = time.perf_counter()
            if f"t 0 {records}" in (kafka.data_dir / "cleaner-offset-checkpoint").read_text():
                break
            time.sleep(0.005)
        ended = time.perf_counter()
        words = kafka.log
        assert "ERROR" not in words, words[-2000:]
        return ended - (before or ended)


def main() -> None:
    path = Path(tempfile.mkdtemp(prefix="odradek-bench-"))
    try:
        if ARGS.python:
            compaction_map.HAVE_C = False
        size = write(path, ARGS.records, ARGS.keys, bytes(range(16)))
        copied = copy(path)
        log = open_log(path)
        memory = peak_mb()
        begun = time.perf_counter()
        result = log.compact(int(time.time() * 1000))
        seconds = time.perf_counter() - begun
        used = peak_mb() - memory
        log.close(clean=False)
        which = "C" if compaction_map.HAVE_C else "Python"
        print(f"{ARGS.records:,} records, {size >> 20} MB, {ARGS.keys:,} keys; maps in {which}")
        print(f"kept {result.records_after:,} records, {result.bytes_after >> 20} MB")
        print(f"compaction   {seconds:6.2f} s  {ARGS.records / seconds:12,.0f} records/s", end="")
        print(f"  {size / seconds / 2**20:7.0f} MB/s  peak +{used:.0f} MB of memory")
        print(f"a raw copy   {copied:6.2f} s  {size / copied / 2**20:36.0f} MB/s")
        if ARGS.kafka:
            seconds = kafka_seconds(path, ARGS.records)
            print(f"Apache Kafka {seconds:6.2f} s  {ARGS.records / seconds:12,.0f} records/s", end="")
            print("  (only its second pass: it says nothing of the first)")
    finally:
        shutil.rmtree(path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--records", type=int, default=10_000_000)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--kafka", action="store_true")
    parser.add_argument("--python", action="store_true")
    ARGS = parser.parse_args()
    main()
