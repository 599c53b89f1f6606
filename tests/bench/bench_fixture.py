"""`python -m tests.bench.bench_fixture`: what the `kafka` fixture costs a test.

A session of pytest with so many tests, each of which creates a topic, and produces and reads one
record with confluent-kafka. It runs with a broker of its own for each test, and again on one real
Kafka for the whole session, with a topic for each test. For both are told, of the tests after the
first hundred:

- the fixture's own part: its set-up and the test's tear-down, median and 99th percentile, and its
  processor time in this process, which a busy machine disturbs less;
- the whole test, median;
- threads, open files and sockets, and resident memory: after test 100, and after the last.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from odradek.compat import RealKafka, Unavailable

WARM_UP = 100
MODULE = """
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition


@pytest.mark.parametrize("turn", range({count}))
def test_one_record(kafka, turn):
    orders = kafka.create_topic("orders")
    address = {{"bootstrap.servers": kafka.bootstrap_servers}}
    producer = Producer(address)
    producer.produce(orders.name, b"%d" % turn)
    assert producer.flush(30) == 0
    consumer = Consumer({{**address, "group.id": "none", "auto.offset.reset": "earliest"}})
    consumer.assign([TopicPartition(orders.name, 0, 0)])
    (message,) = consumer.consume(1, 30)
    assert message.value() == b"%d" % turn
    consumer.close()
"""
CONFTEST = """
import gc
import json
import os
import time

import pytest

rows = []


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef):
    began, used = time.perf_counter(), time.process_time()
    try:
        return (yield)
    finally:
        if fixturedef.argname == "kafka":
            used = time.process_time() - used
            rows.append({"setup": time.perf_counter() - began, "used": used})


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    began = time.perf_counter()
    try:
        return (yield)
    finally:
        rows[-1]["call"] = time.perf_counter() - began


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown():
    began, used = time.perf_counter(), time.process_time()
    try:
        return (yield)
    finally:
        rows[-1]["teardown"] = time.perf_counter() - began
        rows[-1]["used"] += time.process_time() - used
        if len(rows) % 100 == 0:
            gc.collect()
            rows[-1]["left"] = left()


def left():
    with open("/proc/self/status") as file:
        told = dict(line.split(":", 1) for line in file)
    names = []
    for each in os.listdir("/proc/self/fd"):
        try:
            names.append(os.readlink(f"/proc/self/fd/{each}"))
        except FileNotFoundError:
            continue
    sockets = sum(name.startswith("socket:") for name in names)
    return {
        "threads": int(told["Threads"]),
        "files": len(names) - sockets,
        "sockets": sockets,
        "memory_kib": int(told["VmRSS"].split()[0]),
    }


def pytest_sessionfinish():
    with open("rows.json", "w") as file:
        json.dump(rows, file)
"""


def session(count: int, *options: str) -> list[dict[str, Any]]:
    """Run so many tests; return what was measured of each."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place)
        (path / "test_one.py").write_text(MODULE.format(count=count))
        (path / "conftest.py").write_text(CONFTEST)
        (path / "pytest.ini").write_text("[pytest]\n")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
        done = subprocess.run(command, cwd=path, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stdout + done.stderr)
        found: list[dict[str, Any]] = json.loads((path / "rows.json").read_text())
        return found


def report(title: str, rows: list[dict[str, Any]]) -> None:
    """Print the figures of one session."""
    warm = rows[WARM_UP:]
    print(f"\n{title}")
    own = [(row["setup"] + row["teardown"]) * 1000 for row in warm]
    for label, times in (
        ("set-up", [row["setup"] * 1000 for row in warm]),
        ("tear-down", [row["teardown"] * 1000 for row in warm]),
        ("the fixture's own part", own),
        ("its processor time", [row["used"] * 1000 for row in warm]),
        ("the test itself", [row["call"] * 1000 for row in warm]),
    ):
        median, highest = statistics.median(times), statistics.quantiles(times, n=100)[-1]
        print(f"  {label:24} median {median:8.2f} ms   99 % {highest:8.2f} ms")
    first, last = rows[WARM_UP - 1]["left"], rows[len(rows) // 100 * 100 - 1]["left"]
    for name in first:
        print(f"  {name:24} after test {WARM_UP}: {first[name]}, at the end: {last[name]}")


def main() -> None:
    """Measure both, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tests", type=int, default=1000, help="how many (default: 1000)")
    parser.add_argument("--without-real", action="store_true", help="leave the real Kafka out")
    asked = parser.parse_args()
    print(f"{asked.tests} tests on {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    report("a broker of its own for each test", session(asked.tests))
    if not asked.without_real:
        try:
            with RealKafka() as kafka:
                option = f"--kafka-bootstrap={kafka.bootstrap_servers}"
                report("one real Kafka, a topic for each test", session(asked.tests, option))
        except Unavailable as reason:
            print(f"\nno real Kafka: {reason}")


if __name__ == "__main__":
    main()
