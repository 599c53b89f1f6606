"""`python -m tests.bench`: measure, then print the table. What each row means: see `cases`.

The brokers run beside each other and take turns row by row, so that whatever else the machine does
meets all of them alike; those that wait are idle. A broker that cannot be started loses its column,
with the reason. One that fails a row goes on with the next, and the exit status is 1. Everything is
stopped and removed at the end, also on Ctrl-C (what was measured until then is printed).
"""

from __future__ import annotations

import argparse
import os
import platform
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from odradek.compat import Unavailable

from tests.support.processes import cores, describe_machine, machine_cpu_seconds

from . import chart
from .brokers import BROKERS, Beside, Broker
from .cases import READY, Case, Row, cases
from .client import describe_client
from .programs import built
from .report import table

NAMES = ("Odradek", "Kafka", "kfake", "beside")  # in the table's order
SIZES = "100:1000000,1000:300000,10000:50000"


class Run:
    """What was asked for, which brokers take part, and what came out so far."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.cases = cases(options.sizes, options.partitions, options.scale)
        self.about: list[str] = []  # one line for each broker: versions, or why it is missing
        self.values: dict[tuple[Row, str], list[float]] = defaultdict(list)
        self.failed: dict[tuple[Row, str], str] = {}
        self.brokers: list[Broker] = []

    @property
    def rows(self) -> list[Row]:
        rows = [READY, *(row for case in self.cases for row in case.rows)]
        return [row for row in rows if self.is_wanted(row)]

    @property
    def names(self) -> list[str]:
        """The brokers that took part, in the table's order."""
        return [name for name in NAMES if any(broker.name == name for broker in self.brokers)]

    def is_wanted(self, row: Row) -> bool:
        """Say whether --rows names this row, or nothing."""
        return not self.options.rows or row.name in self.options.rows

    def start(self, stack: ExitStack) -> None:
        """Start every broker that can be, as often as --repeat says; the last one stays."""
        chosen = [BROKERS[name]() for name in self.options.only]
        if self.options.beside is not None:
            chosen.append(Beside(self.options.beside))
        for broker in chosen:
            try:
                about = broker.prepare()
                stack.callback(broker.stop)
                for _ in range(self.options.repeat if self.is_wanted(READY) else 1):
                    broker.stop()
                    broker.start()
                    self.values[READY, broker.name].append(broker.ready_s)
                    _say(f"{broker.name}: ready in {broker.ready_s:.3f} s")
            except Unavailable as error:
                self.about.append(f"{broker.name}: skipped: {error}")
                _say(self.about[-1])
                continue
            self.about.append(f"{broker.name}: {about}")
            self.brokers.append(broker)

    def measure(self) -> None:
        """Go through the cases; each broker in turn, beginning with another one each time."""
        for case in self.cases:
            if case.rows and not any(self.is_wanted(row) for row in case.rows):
                continue
            for _ in range(self.options.repeat if case.repeats else 1):
                for broker in self.brokers:
                    self._measure(case, broker)
                self.brokers.append(self.brokers.pop(0))

    def _measure(self, case: Case, broker: Broker) -> None:
        try:
            if broker.pid is None:
                raise RuntimeError(f"the process has ended: {broker.last_words()}")
            found = case.measure(broker)
        except Exception as error:  # of any kind: it is reported, and costs these rows only
            reason = f"{type(error).__name__}: {error}"
            self.failed.update({(row, broker.name): reason for row in case.rows})
            what = case.rows[0].label if case.rows else "warm-up"
            _say(f"{broker.name}: {what}: FAILED: {reason}")
            return
        for row, value in zip(case.rows, found, strict=True):
            if value is not None:
                self.values[row, broker.name].append(value)
                _say(f"{broker.name}: {row.label}: {value:.3f} {row.unit}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit status."""
    run = Run(_parser().parse_args(arguments))
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # stopped as by Ctrl-C
    load = _load_average()
    begin, busy, own = time.perf_counter(), machine_cpu_seconds(), _own_cpu_seconds()
    status = 0
    with ExitStack() as stack:
        try:
            run.start(stack)
            run.measure()
        except KeyboardInterrupt:
            _say("interrupted")
            status = 130
    elapsed = time.perf_counter() - begin
    busy_now = machine_cpu_seconds()
    if busy is not None and busy_now is not None:
        others = (busy_now - busy) - (_own_cpu_seconds() - own)
        load += f"; during it others took {max(0.0, others) / elapsed / cores():.0%} of the cores"
    _print(run, elapsed, load)
    if run.options.chart is not None:
        try:
            chart.draw(run.options.chart, run.rows, run.names, run.values)
        except Unavailable as reason:
            _say(f"no chart: {reason}")
            status = status or 1
    return status or (1 if run.failed else 0)


def _print(run: Run, elapsed: float, load: str) -> None:
    print(f"machine: {describe_machine()}; {load}")
    print(f"client: {describe_client()}, Python {platform.python_version()}")
    for line in run.about:
        print(line)
    print(f"scale {run.options.scale:g}, repeat {run.options.repeat}, {elapsed:.0f} s in all")
    try:
        if any(row.name == "requests" for row in run.rows):
            built("load")
    except Unavailable as error:
        print(f"small requests were sent by Python, which may be slower than the broker: {error}")
    print(f"\n{table(run.rows, run.names, run.values, set(run.failed))}")
    for (row, name), reason in run.failed.items():
        if run.is_wanted(row):
            print(f"failed: {name}: {row.label}: {reason}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench", description="Odradek beside Apache Kafka and kfake."
    )
    parser.add_argument(
        "--only",
        metavar="BROKER,...",
        type=_brokers,
        default=list(BROKERS),
        help=f"some of {', '.join(BROKERS)} (all)",
    )
    parser.add_argument("--beside", metavar="COMMIT", help="Odradek of another commit too")
    parser.add_argument(
        "--rows",
        metavar="ROW,...",
        type=_rows,
        default=[],
        help=f"some of {', '.join(_row_names())} (all)",
    )
    parser.add_argument(
        "--chart", metavar="FILE", type=Path, help="draw some of the rows as SVG (matplotlib)"
    )
    parser.add_argument("--scale", type=_positive, default=1.0, help="times this many records (1)")
    parser.add_argument(
        "--repeat",
        metavar="N",
        type=int,
        choices=range(1, 100),
        default=1,
        help="measure N times, take medians (1)",
    )
    parser.add_argument(
        "--sizes",
        metavar="BYTES:RECORDS,...",
        type=_sizes,
        default=SIZES,
        help=f"how many records of which size ({SIZES})",
    )
    parser.add_argument(
        "--partitions",
        metavar="COUNT,...",
        type=lambda text: [int(count) for count in text.split(",")],
        default=[1, 12],
        help="over how many partitions (1,12)",
    )
    return parser


def _brokers(text: str) -> list[str]:
    return _chosen(text.lower(), list(BROKERS))


def _rows(text: str) -> list[str]:
    return _chosen(text.lower(), _row_names())


def _row_names() -> list[str]:
    rows = [row for case in cases(_sizes(SIZES), [1], 1.0) for row in case.rows]
    return list(dict.fromkeys([READY.name, *(row.name for row in rows)]))


def _chosen(text: str, known: list[str]) -> list[str]:
    names = text.split(",")
    unknown = set(names) - set(known)
    if unknown:
        raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown))}: not of {', '.join(known)}")
    return [name for name in known if name in names]


def _sizes(text: str) -> list[tuple[int, int]]:
    pairs = (pair.split(":") for pair in text.split(","))
    try:
        return [(int(size), int(count)) for size, count in pairs]
    except ValueError:
        raise argparse.ArgumentTypeError(f"not BYTES:RECORDS,...: {text!r}") from None


def _positive(text: str) -> float:
    value = float(text)
    if value <= 0:
        raise argparse.ArgumentTypeError("must be more than 0")
    return value


def _own_cpu_seconds() -> float:
    """CPU time of this process and of its children that have ended."""
    return sum(os.times()[:4])


def _load_average() -> str:
    if not hasattr(os, "getloadavg"):
        return "load unknown"
    return f"load {os.getloadavg()[0]:.1f} before the run"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
