"""Hostile clients: what one of them does to the others, and to the broker.

    python -m tests.bench.bench_hostile [--only odradek|kafka] [--attack NAME] [--scale 0.1]

Each attack of tests/hostile/attacks runs in full against a new Odradek and a new Kafka, one after
the other, with a polite client beside it that produces a record and fetches it, again and again.
For each is printed: the polite client's longest round in ms, the memory that the process took above
what it took before in MB, how long it then took to stop in seconds, and whether it served on. An
attack that is not over after three minutes is given up, and so is a round that takes one minute.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from odradek.compat import Unavailable

from tests.hostile.attacks import Attack, all_attacks
from tests.hostile.attacks.sockets import metadata_of
from tests.hostile.support.clients import Hostile, Polite
from tests.hostile.support.run import attacked, limited
from tests.hostile.support.target import Target
from tests.support.processes import describe_machine

from .brokers import Broker, Kafka, Odradek

KINDS: dict[str, type[Broker]] = {"odradek": Odradek, "kafka": Kafka}
AGAIN_S = 60.0
NAME_WIDTH, CELL_WIDTH = 42, 34


@dataclass(frozen=True)
class Measured:
    stall_ms: float
    growth_mb: float
    stop_s: float
    serves_on: bool
    failure: str

    def __str__(self) -> str:
        at_least = ">" if self.failure else ""
        figures = f"{at_least}{self.stall_ms:.0f} ms {self.growth_mb:.0f} MB {self.stop_s:.1f} s"
        return figures if self.serves_on else f"{figures} GONE"


def measured(broker: Broker, attack: Attack, count: int) -> Measured:
    broker.start()
    try:
        assert broker.pid is not None
        target = Target(broker.address, broker.pid)
        outcome = attacked(attack, count, target)
        serves_on = outcome.failure is None or serves(target)
    finally:
        begin = time.perf_counter()
        broker.stop()
    stop_s = time.perf_counter() - begin
    growth_mb = outcome.growth / (1 << 20)
    failure = "" if outcome.failure is None else repr(outcome.failure)
    return Measured(outcome.longest_s * 1000, growth_mb, stop_s, serves_on, failure)


def serves(target: Target) -> bool:
    """Whether a new polite client is served, in the end."""
    deadline = time.monotonic() + AGAIN_S
    while time.monotonic() < deadline:
        try:
            limited(lambda: _asks(target), "a polite client", AGAIN_S)
        except (OSError, EOFError, AssertionError):
            time.sleep(1.0)
        else:
            return True
    return False


def _asks(target: Target) -> None:
    with Hostile(target.address) as client:
        assert client.ask(metadata_of(Polite.TOPIC), 9).topics[0].error_code == 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for, and print a line for each attack."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.bench_hostile")
    parser.add_argument("--only", choices=list(KINDS), action="append", default=[])
    parser.add_argument("--attack", choices=list(all_attacks()), action="append", default=[])
    parser.add_argument("--scale", type=float, default=1.0)
    options = parser.parse_args(arguments)
    brokers = []
    print(describe_machine())
    for kind in options.only or KINDS:
        broker = KINDS[kind]()
        try:
            print(broker.prepare())
        except Unavailable as reason:
            print(f"{broker.name}: {reason}")
        else:
            brokers.append(broker)
    head = "".join(f"{broker.name:>{CELL_WIDTH}}" for broker in brokers)
    print(f"{'longest stall, memory, time to stop':{NAME_WIDTH}}{head}", flush=True)
    for name, attack in all_attacks().items():
        if options.attack and name not in options.attack:
            continue
        print(f"{name:{NAME_WIDTH}}", end="", flush=True)
        failures = []
        for broker in brokers:
            one = measured(broker, attack, max(1, int(attack.full * options.scale)))
            print(f"{one!s:>{CELL_WIDTH}}", end="", flush=True)
            if one.failure:
                failures.append(f"    {broker.name}: {one.failure}")
        print()
        for failure in failures:
            print(failure, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
