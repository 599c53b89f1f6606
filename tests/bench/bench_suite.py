"""A suite of tests that each need a broker: seconds in all, and milliseconds a test.

    python -m tests.bench.bench_suite [--tests 1000] [--only NAME,...]

Each test creates a topic, produces ten records and reads them again, with confluent-kafka. What
differs is where the broker comes from; each way is a run of pytest, from its start to its end:

- "Odradek, each its own": the fixture `kafka`, a fresh broker for each test.
- "Odradek", "Kafka", "kfake": one broker for the whole session, as one has it with a container;
  each test has a topic of its own.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from odradek.compat import Unavailable

from .brokers import BROKERS

OWN = "Odradek, each its own"
WAYS = {OWN: None, "Odradek": "odradek", "Kafka": "kafka", "kfake": "kfake"}
"""Each way, and the broker of the session, by its name in `brokers`."""
_ROOT = Path(__file__).parents[2]

_CONFTEST = """
import os
import pytest
from tests.bench.brokers import BROKERS

@pytest.fixture(scope="session")
def session_address():
    broker = BROKERS[os.environ["BENCH_BROKER"]]()
    broker.prepare()
    broker.start()
    yield broker.address
    broker.stop()

if "BENCH_BROKER" in os.environ:
    @pytest.fixture
    def address(session_address):
        return session_address
else:
    @pytest.fixture
    def address(kafka):
        return kafka.bootstrap_servers
"""
_TESTS = """
import os
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

@pytest.mark.parametrize("number", range(int(os.environ["BENCH_TESTS"])))
def test_orders(number, address):
    topic, common = f"orders-{number}", {"bootstrap.servers": address}
    admin = AdminClient(common)
    for done in admin.create_topics([NewTopic(topic, 1, 1)]).values():
        done.result(30)
    producer = Producer({**common, "linger.ms": 0})
    for value in range(10):
        producer.produce(topic, b"order %d" % value)
    assert producer.flush(30) == 0
    consumer = Consumer({**common, "group.id": topic, "auto.offset.reset": "earliest"})
    consumer.assign([TopicPartition(topic, 0, 0)])
    values = [message.value() for message in consumer.consume(10, 30)]
    consumer.close()
    assert values == [b"order %d" % value for value in range(10)]
"""


def seconds(way: str, tests: int) -> float:
    """How long the run takes. Raises RuntimeError with the end of its output if it fails."""
    broker = WAYS[way]
    environment = {**os.environ, "BENCH_TESTS": str(tests), "PYTHONPATH": str(_ROOT)}
    if broker is not None:
        environment["BENCH_BROKER"] = broker
    with tempfile.TemporaryDirectory(prefix="odradek-bench-") as home:
        Path(home, "conftest.py").write_text(_CONFTEST)
        Path(home, "test_orders.py").write_text(_TESTS)
        begin = time.perf_counter()
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:schemathesis", "--tb=short"]
        done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True)
        took = time.perf_counter() - begin
    if done.returncode or not re.search(rf"^{tests} passed", done.stdout, re.MULTILINE):
        raise RuntimeError(f"{way}: {(done.stdout + done.stderr)[-2000:]}")
    return took


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; the exit status is 1 if a way failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.bench_suite")
    parser.add_argument("--tests", type=int, default=1000, metavar="COUNT")
    parser.add_argument("--only", default="", metavar="NAME", help=f"one of {', '.join(WAYS)}")
    options = parser.parse_args(arguments)
    took: dict[str, float] = {}
    status = 0
    for way, broker in WAYS.items():
        if options.only and way != options.only:
            continue
        try:
            if broker is not None:
                BROKERS[broker]().prepare()  # downloads and builds, which is not measured
            took[way] = seconds(way, options.tests)
        except Unavailable as reason:
            print(f"{way}: unavailable: {reason}", file=sys.stderr)
        except RuntimeError as error:
            print(f"failed: {error}", file=sys.stderr)
            status = 1
    print(f"{options.tests} tests")
    for way, all_s in took.items():
        ratio = f"{took[OWN] / all_s:8.2f}x" if OWN in took else ""
        print(f"{way:24}{all_s:9.1f} s{all_s * 1000 / options.tests:9.1f} ms a test{ratio}")
    return status


if __name__ == "__main__":
    sys.exit(main())
