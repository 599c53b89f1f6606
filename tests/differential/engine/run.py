"""A run: cases and drawn sequences one after the other, the differences found, and the counts.

Each kind of difference is shrunk and printed once, and counted after that.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from odradek.wire import Request

from tests.releases.compared import Compared

from ..draw.sequences import draw_sequence
from .engine import Engine
from .results import Result, Signature
from .shrink import shrink
from .steps import Ask
from .steps import Sequence as Steps
from .transcript import transcript

Print = Callable[[str], Any]


class Run:
    """One call of the command, and what it found."""

    def __init__(self, engine: Engine, out: Print, *, shrinks: bool = True) -> None:
        self.engine = engine
        self.found: Counter[Signature] = Counter()
        self.cases_run = self.drawn_run = 0
        self.versions: set[tuple[type[Request], int]] = set()
        self._out = out
        self._shrinks = shrinks
        self._began = time.monotonic()

    def cases(self, cases: Iterable[Steps], *, are_drawn: bool = False) -> None:
        for case in cases:
            self.cases_run += not are_drawn
            self.drawn_run += are_drawn
            self._one(case)

    def drawn(
        self, seed: int, requests: int, minutes: float = 60.0, kinds: Sequence[str] = ()
    ) -> None:
        """Run drawn sequences until `requests` were made in all, or the minutes are over."""
        end = time.monotonic() + 60 * minutes
        while self.engine.requests < requests and time.monotonic() < end:
            self.drawn_run += 1
            self._one(draw_sequence(seed, self.engine.served, kinds))
            seed += 1

    def report(self, *, is_whole: bool = True) -> int:
        """Print the counts; return the exit status. Allowances that nothing used are named when
        the run was whole."""
        engine = self.engine
        seconds = time.monotonic() - self._began
        self._out(
            f"{self.cases_run} cases, {self.drawn_run} drawn sequences, {engine.requests} requests,"
            f" {engine.fields} fields compared, {len(self.versions)} versions of"
            f" {len({request for request, _ in self.versions})} APIs, {seconds:.0f} s"
        )
        for name, count in sorted(engine.allowances.used.items()):
            self._out(f"allowed {count} times: {name}")
        for allowed in engine.allowances.unused() if is_whole else ():
            self._out(f"allowed, but never seen: {allowed.name}")
        for (api, place, real, ours), count in sorted(self.found.items()):
            self._out(f"UNEXPLAINED {count} times: {api}, {place}: real {real}, ours {ours}")
        return 1 if self.found else 0

    def compared(self, release: str) -> Compared:
        """The counts, as they are kept."""
        engine = self.engine
        counts = engine.requests, engine.fields, engine.allowances.used.total()
        return Compared(release, *counts, self.found.total(), len(self.found))

    def _one(self, sequence: Steps) -> None:
        result = self.engine.run(sequence)
        for log in result.log:
            if isinstance(log.step, Ask) and log.version is not None:
                self.versions.add((type(log.step.request), log.version))
        if not result.findings:
            return
        signature = result.findings[0].signature
        self.found[signature] += 1
        if self.found[signature] == 1:
            self._show(result)

    def _show(self, result: Result) -> None:
        if self._shrinks and not result.sequence.restarts:
            result = shrink(self.engine, result)
        self._out(f"\n{transcript(result)}\n")
