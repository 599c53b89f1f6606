"""python -m tests.bugs.cost: what a kill and a start of a service cost, and how many crash points
are tried in a minute. The figures of docs/applications.md are those of a machine that does nothing
else.

    --kills 20     how many
"""

from __future__ import annotations

import argparse
import os
import sys
from statistics import median
from time import perf_counter, sleep
from typing import Any

from odradek import Emulator

from tests.fixtures.services import applications

CONFIG = {"group.initial.rebalance.delay.ms": 0}
ORDERS = ["espresso", "lungo"]


def start(kafka: Any, **more: Any) -> Any:
    """A consumer and a producer of confluent-kafka, in Python."""
    return kafka.service(applications.copy, kafka.bootstrap_servers, **more)


def restarts(kills: int) -> tuple[list[float], list[float]]:
    """Milliseconds from a kill until another process is there, and until that has joined."""
    there: list[float] = []
    joined: list[float] = []
    with Emulator(config=CONFIG, topics={"orders": 1, "invoices": 1}) as kafka:
        service = start(kafka, backoff=0)
        service.wait_ready()
        for _ in range(kills):
            begin = perf_counter()
            service.kill()
            while not service.instances:
                sleep(0.0005)
            there.append(1000 * (perf_counter() - begin))
            service.wait_ready()
            joined.append(1000 * (perf_counter() - begin))
    return there, joined


def crash_points() -> tuple[int, float]:
    """How many kills, and in how many seconds: all those of a scenario with two orders."""
    with Emulator(config=CONFIG, topics={"orders": 1, "invoices": 1}) as kafka:
        begin = perf_counter()
        crashes = kafka.app_crash_points(start, lambda k: k.topic("orders").produce_all(ORDERS))
        happened = sum(crash.happened for crash in crashes)
        return happened, perf_counter() - begin


def main() -> int:
    """Measure, and print it with the machine's load."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=20)
    there, joined = restarts(parser.parse_args().kills)
    count, seconds = crash_points()
    load = os.getloadavg()[0]
    print(f"a kill, until another process is there: {median(there):.0f} ms")
    print(f"a kill, until that has joined its group: {median(joined):.0f} ms")
    print(f"crash points: {count} in {seconds:.1f} s, {60 * count / seconds:.0f} in a minute")
    print(f"on {os.cpu_count()} cores, {load:.1f} processes at work on the machine")
    return 0


if __name__ == "__main__":
    sys.exit(main())
