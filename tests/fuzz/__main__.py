"""`python -m tests.fuzz`: fuzzing at the socket. Exit status 1 if something was found."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

from odradek.emulator.base.release import KAFKA_4_3

from .arena import Arena, Setup, in_arena
from .beginnings import LISTENERS
from .broker import PLAINTEXT
from .driver import Driver
from .events import FOUND, Case
from .findings import Finding
from .replay import replayed
from .served import served_by
from .shrink import shrunk
from .siege import Siege

ERA = 20_000
ERA_OF_A_SIEGE = 250_000
SAY_EVERY_S = 10.0


class Fuzzing:
    """A run: its eras, and what was found in them, each defect once."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.is_siege = options.listener != PLAINTEXT
        self.setup = Setup(
            options.kafka_version,
            options.memory_mb,
            options.hang_s,
            ends=not self.is_siege,  # nobody has written anything
            module=options.module,
            listener=options.listener,
        )
        self._era_frames = ERA_OF_A_SIEGE if self.is_siege else ERA
        self.served = served_by(options.kafka_version)
        self.cases: dict[tuple[str, str], Case] = {}
        self.frames = self.answers = self.closed = 0
        self._began = self._said = time.monotonic()

    def run(self) -> None:
        """All eras, or the one that was asked for."""
        eras = range((self.options.frames + self._era_frames - 1) // self._era_frames)
        if self.options.era is not None:
            eras = range(self.options.era, self.options.era + 1)
        for era in eras:
            self._era(era, min(self._era_frames, self.options.frames - self.frames))

    def _era(self, number: int, frames: int) -> None:
        seed = f"{self.options.seed}/{number}"
        drivers: list[Driver | Siege] = []

        def play(arena: Arena) -> None:
            driver = self._driver(arena, seed)
            drivers.append(driver)
            arena.on_found = lambda finding: self._found(finding, seed, driver)
            driver.run(frames, lambda each: self._say(number, each))

        arena = in_arena(replace(self.setup, is_killed=number % 2 == 1), play)
        (driver,) = drivers
        self.frames += driver.frames
        self.answers += driver.answers
        self.closed += driver.closed
        grown = (arena.heaviest - arena.idle) >> 20
        polite = arena.polite
        slowest = f", the polite one's slowest round {polite.longest_s:.2f} s" if polite else ""
        self._line(f"era {number} ended: memory +{grown} MB{slowest}", self.frames)
        if isinstance(driver, Siege):
            print(f"  {driver.status}", flush=True)

    def _driver(self, arena: Arena, seed: str) -> Driver | Siege:
        options = self.options
        if self.is_siege:
            return Siege(arena, options.listener, seed, options.connections)
        return Driver(arena, self.served, seed, options.connections)

    def _found(self, finding: Finding, seed: str, driver: Driver | Siege) -> None:
        key = finding.kind, finding.place
        if key in self.cases:
            return
        case = Case(finding, self.setup.release, seed, list(driver.history))
        self.cases[key] = case
        path = case.save(self.options.found)
        print(f"FOUND {finding.kind}: {finding.place}\n{finding.text}\n-> {path}", flush=True)

    def _say(self, era: int, driver: Driver | Siege) -> None:
        if time.monotonic() > self._said + SAY_EVERY_S:
            self._said = time.monotonic()
            self._line(f"era {era}", self.frames + driver.frames)

    def _line(self, text: str, frames: int) -> None:
        seconds = time.monotonic() - self._began
        found = f"{len(self.cases)} found"
        print(f"{frames:>9,} frames, {frames / seconds:,.0f}/s, {found}: {text}", flush=True)

    def shrink(self) -> None:
        """Look for the shortest list of events for each finding."""
        for case in self.cases.values():
            small = shrunk(case, self.setup, self.options.shrink_s)
            path = small.save(self.options.found)
            print(f"{path}: {len(case.events)} events, {len(small.events)} suffice")


def main(arguments: list[str] | None = None) -> int:
    options = _parsed(arguments)
    if options.replay is not None:
        return _replay(options)
    fuzzing = Fuzzing(options)
    fuzzing.run()
    if options.shrink_s > 0 and not fuzzing.is_siege:
        fuzzing.shrink()
    counts = f"{fuzzing.answers:,} answers, {fuzzing.closed:,} connections closed by the broker"
    print(f"{fuzzing.frames:,} frames, {counts}, {len(fuzzing.cases)} found")
    return 1 if fuzzing.cases else 0


def _replay(options: argparse.Namespace) -> int:
    case = Case.load(options.replay)
    setup = Setup(case.release, options.memory_mb, options.hang_s, module=options.module)
    findings = replayed(case.events, setup)
    for finding in findings:
        print(f"{finding.kind}: {finding.place}\n{finding.text}")
    print(f"{len(case.events)} events, {len(findings)} found")
    return 1 if findings else 0


def _parsed(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    add = parser.add_argument
    add("--frames", type=int, default=ERA, help="how many to send (%(default)s)")
    add("--seed", type=int, default=1, help="what is drawn depends on it (%(default)s)")
    add("--connections", type=int, default=8, help="that send mutated frames (%(default)s)")
    add("--kafka-version", default=KAFKA_4_3.name, help="the release (%(default)s)")
    add(
        "--listener",
        type=str.upper,
        choices=LISTENERS,
        default=PLAINTEXT,
        help="what is attacked; if not PLAINTEXT, before a log-in (%(default)s)",
    )
    add("--era", type=int, help="this era of the seed alone")
    add("--memory-mb", type=int, default=400, help="allowed above idle (%(default)s)")
    add("--hang-s", type=float, default=8.0, help="longer is too long (%(default)s)")
    add("--shrink-s", type=float, default=60.0, help="for each finding; 0: not (%(default)s)")
    add("--found", type=Path, default=FOUND, help="where findings are kept (%(default)s)")
    add("--replay", type=Path, metavar="FILE", help="do once more what led to a finding")
    add("--module", default=Setup.module, help="what is run with `serve` (%(default)s)")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
