"""What it costs to reset a broker, to keep its state and put it back, to double it.

    python -m tests.bench.bench_state [--topics 100] [--records 1000000] [--in-a-batch 100]

The broker is in this process, its directory in the temporary one (`TMPDIR` says which: a file
system in memory makes new files several times as fast). Records have 100 bytes. Each verb is
repeated, and the median and the fastest are given. `touched` is a restore after one record was
produced to each of that many topics, as a test does between two restores.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from odradek import Emulator
from odradek.emulator.cluster import Cluster
from odradek.emulator.snapshots.snapshot import Snapshot
from odradek.wire.batch import read_header
from odradek.wire.records import build_batch


def fill(cluster: Cluster, topics: int, records: int, at_once: int) -> None:
    """The same number of records in each topic."""
    now = cluster.clock.now()
    batch = build_batch([(now, None, bytes(100), ())] * at_once)
    header = read_header(batch)
    for number in range(topics):
        partition = cluster.topic(f"topic-{number}").partitions[0]
        for _ in range(records // topics // at_once):
            partition.append(bytearray(batch), header, now)


def measured(name: str, verb: Callable[[], Any], times: int, before: Any = None) -> None:
    """Print how long it takes, in milliseconds."""
    took = []
    for _ in range(times):
        if before is not None:
            before()
        begin = time.perf_counter()
        made = verb()
        took.append((time.perf_counter() - begin) * 1000)
        if isinstance(made, Emulator):
            made.stop()
        made = None  # a snapshot that is dropped is removed, which is not counted
    print(f"{name:34} {statistics.median(took):9.2f} ms   fastest {min(took):9.2f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--in-a-batch", type=int, default=100)
    parser.add_argument("--times", type=int, default=7)
    options = parser.parse_args()
    with Emulator() as kafka:
        measured("empty broker: reset", kafka.reset, 100)
        state = kafka.snapshot()
        measured("empty broker: snapshot", kafka.snapshot, 100)
        measured("empty broker: restore", lambda: kafka.restore(state), 100)
        measured("empty broker: fork", kafka.fork, 20)
    topics = {f"topic-{number}": 1 for number in range(options.topics)}
    with Emulator(topics=topics) as kafka, tempfile.TemporaryDirectory() as place:
        kafka.run(lambda c: fill(c, options.topics, options.records, options.in_a_batch))
        size = kafka.snapshot().size / 1e6
        about = f"{options.topics} topics, {options.records} records, {size:.0f} MB"
        print(f"\n{about}, {options.in_a_batch} records in a batch")
        measure_full(kafka, options, Path(place, "state.tar"))


def measure_full(kafka: Emulator, options: argparse.Namespace, path: Path) -> None:
    def touch(count: int) -> None:
        for number in range(count):
            kafka.topic(f"topic-{number}").produce("x")

    times, topics = options.times, options.topics
    measured("snapshot", kafka.snapshot, times)
    measured("snapshot, all topics touched", kafka.snapshot, times, lambda: touch(topics))
    state = kafka.snapshot()
    measured("first record after a snapshot", lambda: touch(1), times, kafka.snapshot)
    for count in (0, 2, topics):
        name = f"restore, {count} topics touched"
        measured(name, lambda: kafka.restore(state), times, lambda count=count: touch(count))
    measured("fork", kafka.fork, times)
    measured("save", lambda: state.save(path), times)
    print(f"{'':34} {path.stat().st_size / 1e6:9.2f} MB")
    measured("load", lambda: Snapshot.load(path), times)
    measured("reset", kafka.reset, times, lambda: kafka.restore(state))


if __name__ == "__main__":
    main()
