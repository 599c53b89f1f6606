"""Several brokers in one process: how long until they are ready, and what many partitions take.

    python -m tests.bench.bench_brokers [--times 20] [--brokers 100] [--partitions 10000]

Ready: from the call of `Emulator(brokers=N).start()` until it returns, and until every broker has
answered ApiVersions; medians in milliseconds. Many partitions: seconds to start that many brokers,
to create topics of ten partitions with three replicas, until the Metadata of one broker (and of
ten) lists a leader of each, to stop one broker (its leaders move) and to start it again, and to
restart all of them.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
import time
from collections.abc import Callable

from odradek import Emulator
from odradek.wire.api.metadata import MetadataRequest

from tests.support.connection import ask

from .frames import answers_api_versions

SIZES = (1, 3, 10)
EACH = 10
REPLICAS = 3


def ready_ms(brokers: int) -> tuple[float, float]:
    """Milliseconds until `start` returns, and until all have answered."""
    gc.collect()
    begin = time.perf_counter()
    kafka = Emulator(brokers=brokers).start()
    started = time.perf_counter() - begin
    for broker in kafka.brokers:
        assert answers_api_versions(broker.address)
    answered = time.perf_counter() - begin
    kafka.stop()
    return started * 1000, answered * 1000


def many(brokers: int, partitions: int) -> list[tuple[str, float]]:
    """What each step took, in seconds."""
    steps: list[tuple[str, float]] = []

    def step(name: str, work: Callable[[], object]) -> None:
        begin = time.perf_counter()
        work()
        steps.append((name, time.perf_counter() - begin))

    kafka = Emulator(brokers=brokers)
    try:
        step(f"{brokers} brokers started", kafka.start)
        step(f"{partitions} partitions created", lambda: _create(kafka, partitions))
        step("metadata of all, at one broker", lambda: _led(kafka, partitions, 1))
        step("metadata of all, at ten brokers", lambda: _led(kafka, partitions, 10))
        step("one broker stopped", kafka.brokers[1].stop)
        step("it started again", kafka.brokers[1].start)
        step("all restarted", kafka.restart)
    finally:
        step("all stopped", kafka.stop)
    return steps


def _create(kafka: Emulator, partitions: int) -> None:
    for number in range(partitions // EACH):
        kafka.create_topic(f"topic-{number:05d}", EACH, replicas=REPLICAS)


def _led(kafka: Emulator, partitions: int, brokers: int) -> None:
    for broker in list(kafka.brokers)[:brokers]:
        answer = ask(broker.address, MetadataRequest(topics=None), 9)
        found = [part for topic in answer.topics for part in topic.partitions]
        assert sum(part.leader_id > 0 for part in found) >= partitions


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.bench_brokers")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--brokers", type=int, default=100)
    parser.add_argument("--partitions", type=int, default=10_000)
    given = parser.parse_args()
    found: dict[int, list[tuple[float, float]]] = {brokers: [] for brokers in SIZES}
    for number in range(given.times + 1):  # in turn; the first round imports what is needed
        for brokers, times in found.items():
            measured = ready_ms(brokers)
            times += [measured] if number else []
    for brokers, times in found.items():
        started, answered = ([each[n] for each in times] for n in (0, 1))
        print(
            f"{brokers:4} brokers, ms: started {statistics.median(started):6.1f}"
            f" (least {min(started):.1f}), all have answered {statistics.median(answered):6.1f}"
            f" (least {min(answered):.1f})"
        )
    for name, seconds in many(given.brokers, given.partitions):
        print(f"{name:40}{seconds:9.3f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
