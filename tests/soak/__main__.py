"""`python -m tests.soak --minutes N --seed S`: see the package."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from typing import IO, Any, Self

from tests.soak.verdict import Minute, judged
from tests.support.processes import cpu_seconds, memory

CONFIGS = {
    "log.retention.check.interval.ms": "5000",
    "log.initial.task.delay.ms": "5000",
    "log.segment.delete.delay.ms": "5000",
    "log.cleaner.backoff.ms": "5000",
    "log.cleaner.min.cleanable.ratio": "0.1",
    # What is kept for a day or a week is kept for minutes here: it must become level. So must the
    # indexes of newest segments, which are in memory until the next one begins.
    "log.roll.ms": "120000",
    "log.cleaner.delete.retention.ms": "300000",
    "log.retention.ms": "600000",
    "metadata.log.segment.ms": "300000",
    "producer.id.expiration.ms": "300000",
    "producer.id.expiration.check.interval.ms": "10000",
    "transactional.id.expiration.ms": "600000",
    "offsets.retention.minutes": "2",
    "offsets.retention.check.interval.ms": "30000",
    "max.incremental.fetch.session.cache.slots": "50",
    "metadata.log.max.snapshot.interval.ms": "300000",
    "metadata.max.retention.ms": "600000",
    "offsets.topic.num.partitions": "5",
    "transaction.state.log.num.partitions": "5",
}
MINUTE_S = 60.0
STOP_S = 30.0


class Process:
    """A module of this package in a process of its own: a line asks it, a line of JSON answers."""

    def __init__(self, name: str, *arguments: str, directory: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", f"tests.soak.{name}", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "TMPDIR": directory},
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pipe("stdin").close()
        try:
            self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    @property
    def pid(self) -> int:
        return self.process.pid

    def line(self) -> str:
        """The next line it prints. Raises EOFError if it has ended."""
        line = self._pipe("stdout").readline()
        if not line:
            raise EOFError(f"{self.process.args!r} has ended: {self.process.wait()}")
        return line

    def ask(self) -> Any:
        """What it counts."""
        stdin = self._pipe("stdin")
        stdin.write("\n")
        stdin.flush()
        return json.loads(self.line())

    def _pipe(self, name: str) -> IO[str]:
        pipe: Any = getattr(self.process, name)
        return pipe


class Soak:
    """The three processes, and what was seen of them."""

    def __init__(self, stack: ExitStack, seed: int) -> None:
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="odradek-soak-"))
        options = [f"--set={name}={value}" for name, value in CONFIGS.items()]
        self.broker = stack.enter_context(Process("served", *options, directory=directory))
        address = self.broker.line().split()[3]
        self.polite = stack.enter_context(Process("polite", address, directory=directory))
        self.load = stack.enter_context(Process("load", address, str(seed), directory=directory))
        self.minutes: list[Minute] = []
        self.done = self.wrong = 0
        self._begin = time.monotonic()

    def minute(self) -> None:
        """Wait until the next minute is over, and print what was seen."""
        end = self._begin + (len(self.minutes) + 1) * MINUTE_S
        before = self._cpu()
        time.sleep(max(0.0, end - time.monotonic()))
        weight, taken = memory(self.broker.pid), self.polite.ask()
        held, counts = self.broker.ask(), self.load.ask()
        seen = Minute(
            at=(time.monotonic() - self._begin) / 60,
            resident_kb=weight.resident / 1024,
            anonymous_kb=(weight.anonymous or weight.resident) / 1024,
            descriptors=len(os.listdir(f"/proc/{self.broker.pid}/fd")),
            threads=len(os.listdir(f"/proc/{self.broker.pid}/task")),
            p50=taken["p50"],
            p99=taken["p99"],
            longest=taken["max"],
        )
        self.minutes.append(seen)
        self.done += sum(counts["done"].values())
        self.wrong += sum(counts["wrong"].values())
        cpu = [
            f"{(now - then) / MINUTE_S:.0%}" for now, then in zip(self._cpu(), before, strict=True)
        ]
        print(
            f"{seen.at:6.1f} min  rss {seen.resident_kb / 1024:6.1f} MB"
            f" (anonymous {seen.anonymous_kb / 1024:6.2f})  fds {seen.descriptors}"
            f"  threads {seen.threads}  ms p50 {seen.p50} p99 {seen.p99} max {seen.longest}"
            f"  cpu {'+'.join(cpu)}  {_words(held)}  done {sum(counts['done'].values())}",
            flush=True,
        )
        for sentence, number in counts["wrong"].items():
            print(f"        {number} x {sentence}", flush=True)

    def _cpu(self) -> list[float]:
        return [cpu_seconds(each.pid) or 0.0 for each in (self.broker, self.polite, self.load)]


def _words(held: dict[str, int]) -> str:
    return " ".join(f"{name} {number}" for name, number in held.items())


def main() -> int:
    """Run, and judge. Exit status 1 if something did not stay level."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.minutes < 4:
        parser.error("--minutes: at least 4, or there is nothing to compare")
    with ExitStack() as stack:
        soak = Soak(stack, options.seed)
        for _ in range(options.minutes):
            soak.minute()
        checks = judged(soak.minutes)
    for check in checks:
        print(f"{'good' if check.is_good else 'BAD '}  {check.text}")
    is_served = soak.wrong * 100 < soak.done
    print(
        f"{'good' if is_served else 'BAD '}  clients: {soak.wrong} of {soak.done} pieces went wrong"
    )
    return 0 if is_served and all(check.is_good for check in checks) else 1


if __name__ == "__main__":
    sys.exit(main())
