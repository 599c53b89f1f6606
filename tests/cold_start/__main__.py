"""`python -m tests.cold_start [raw|clients] [--on real,kafka,instant]`."""

from __future__ import annotations

import argparse
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from odradek import Emulator
from odradek.compat import CLIENTS, RealKafka
from odradek.compat import client as client_named

from tests.cold_start import kafka_python_admin, questions
from tests.cold_start.apps import transactions
from tests.cold_start.first_contact import (
    AFTER_CREATION,
    OF_A_NEW_BROKER,
    after_creation,
    of_a_new_broker,
)
from tests.cold_start.until import Sight

BROKERS = ("real", "kafka", "instant")
AT_ONCE = {"group.initial.rebalance.delay.ms": 0}  # as RealKafka has it
STARTS = 3

Start = Callable[[], AbstractContextManager[Any]]


def starter(broker: str) -> Start:
    """What starts such a broker: a real one, or the emulator with that timing."""
    if broker == "real":
        return RealKafka
    return lambda: Emulator(AT_ONCE, timing=broker)


def raw(broker: str) -> Iterator[str]:
    start = starter(broker)
    firsts: dict[str, list[Sight]] = defaultdict(list)
    for _ in range(STARTS):
        with start() as kafka:
            for name, sight in questions.of_a_new_broker(kafka.bootstrap_servers):
                firsts[name].append(sight)
            if isinstance(kafka, RealKafka):
                kafka.restart()
                for name, sight in questions.of_a_restarted_broker(kafka.bootstrap_servers):
                    firsts[name].append(sight)
    yield from (questions.shown(name, sights) for name, sights in firsts.items())
    for ask in (questions.of_topics, questions.of_transactions):
        with start() as kafka:
            yield from (questions.shown(*seen) for seen in ask(kafka.bootstrap_servers))
    with start() as kafka:
        yield from questions.latencies(kafka.bootstrap_servers)


def clients(broker: str) -> Iterator[str]:
    start = starter(broker)
    with start() as kafka:
        for name in CLIENTS:
            topic = f"transactions-{name}"
            client_named("confluent-kafka").create_topic(kafka.bootstrap_servers, topic)
            met = transactions(name, kafka.bootstrap_servers, topic)
            yield f"{name}, commits and aborts: {dict(met)}"
        for name in CLIENTS:
            for step in AFTER_CREATION:
                met_then = after_creation(name, kafka.bootstrap_servers, step)
                yield f"{name}, create a topic, then {step}: {met_then}"
    for name in CLIENTS:
        for step in OF_A_NEW_BROKER:
            yield f"{name}, at a new broker {step}: {of_a_new_broker(name, start, step)}"
    for step in kafka_python_admin.STEPS:
        met_last = kafka_python_admin.of_new_brokers(start, step)
        yield f"kafka-python, {step}: {dict(met_last)}"


def main() -> None:
    """Ask each broker, and print what it has answered."""
    parser = argparse.ArgumentParser(prog="python -m tests.cold_start")
    parser.add_argument("what", nargs="?", choices=["raw", "clients"], default="raw")
    parser.add_argument("--on", default=",".join(BROKERS), help="brokers, with commas")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)  # clients tell what is counted here
    ask: Callable[[str], Iterable[str]] = raw if options.what == "raw" else clients
    for broker in options.on.split(","):
        print(f"== {broker}", flush=True)
        for line in ask(broker):
            print(line, flush=True)


if __name__ == "__main__":
    main()
