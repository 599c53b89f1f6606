"""`python -m tests.bench.bench_transactions`: what transactions and idempotence cost.

Measured with librdkafka's producer, against Odradek and, where it can be started, a real Kafka,
each in a process of its own; a row is the best of three runs, the brokers taking turns:

- transactions: so many of one record each, begun and committed one after the other;
- plain, idempotent: one record of 100 bytes at a time handed to the producer, until all are
  acknowledged by all replicas.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from contextlib import ExitStack

from confluent_kafka import Producer
from odradek.compat import Unavailable

from .brokers import BROKERS

VALUE = bytes(100)
TIMEOUT_S = 60.0
RUNS = 3


def transactions(bootstrap: str, count: int, run: int) -> float:
    """Small transactions a second."""
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "transactional.id": f"bench-{run}",
            "linger.ms": 0,
        }
    )
    producer.init_transactions(TIMEOUT_S)
    began = time.perf_counter()
    for _ in range(count):
        producer.begin_transaction()
        producer.produce("bench-transactions", VALUE, partition=0)
        producer.commit_transaction(TIMEOUT_S)
    return count / (time.perf_counter() - began)


def records(idempotent: bool) -> Callable[[str, int, int], float]:
    """Records a second, with or without sequence numbers."""

    def measure(bootstrap: str, count: int, run: int) -> float:
        producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "enable.idempotence": idempotent,
                "acks": "all",
                "queue.buffering.max.messages": 1_000_000,
            }
        )
        began = time.perf_counter()
        for _ in range(count):
            producer.produce("bench-records", VALUE, partition=0)
        if left := producer.flush(TIMEOUT_S):
            raise TimeoutError(f"{left} records were not delivered")
        return count / (time.perf_counter() - began)

    return measure


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.bench_transactions")
    parser.add_argument("--transactions", type=int, default=1_000)
    parser.add_argument("--records", type=int, default=200_000)
    parser.add_argument("--only", choices=["odradek", "kafka"])
    given = parser.parse_args()
    rows: list[tuple[str, Callable[[str, int, int], float], int]] = [
        ("transactions/s", transactions, given.transactions),
        ("plain records/s", records(False), given.records),
        ("idempotent records/s", records(True), given.records),
    ]
    with ExitStack() as stack:
        brokers: dict[str, str] = {}
        for name in ("odradek", "kafka"):
            if given.only in (None, name):
                broker = BROKERS[name]()
                try:
                    broker.prepare()
                except Unavailable as reason:
                    print(f"{name}: {reason}")
                    continue
                stack.callback(broker.stop)
                broker.start()
                brokers[name] = broker.address
        print(f"{'':22}" + "".join(f"{name:>14}" for name in brokers))
        for name, measure, count in rows:
            best = dict.fromkeys(brokers, 0.0)
            for run in range(RUNS):
                for each, bootstrap in brokers.items():
                    best[each] = max(best[each], measure(bootstrap, count, run))
            print(f"{name:22}" + "".join(f"{rate:14,.0f}" for rate in best.values()), flush=True)


if __name__ == "__main__":
    main()
