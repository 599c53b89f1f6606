"""A broker with a polite client beside it: what is looked at while something is sent to it, and at
the end."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from .broker import PLAINTEXT, ROOT, SERVE, Broker, DidNotStart
from .findings import Finding, Log
from .polite import Polite

HANG_S, STOP_S = 8.0, 20.0
REPAIR_S = 300.0
# What `odradek repair` says of a partition that was deleted less than a minute ago; and the lines
# around what it says: headings and a sum.
_DELETED = "half removed"
_OF_CLIENTS = "  clients of "
"""In each line that tells what clients need."""
_AROUND = ("PARTITION", "DIRECTORY:")


class Over(Exception):
    """Something was found after which it makes no sense to go on."""


@dataclass(frozen=True)
class Setup:
    """What a broker is started with, and what is looked at."""

    release: str
    memory_max_mb: int = 400
    hang_s: float = HANG_S
    stop_s: float = STOP_S
    has_polite: bool = True
    ends: bool = True
    """Whether it is started again, and its directory examined."""
    is_killed: bool = False
    """Whether it is not asked to stop, but killed."""
    module: str = SERVE
    listener: str = PLAINTEXT
    """The security protocol of the listener that is attacked."""


class Arena:
    """A running broker, and what was found."""

    def __init__(self, setup: Setup, directory: Path) -> None:
        self.setup = setup
        self.broker = Broker(directory, setup.release, setup.module, setup.listener)
        self.broker.start()
        self.findings: dict[tuple[str, str], Finding] = {}
        # Called with each finding the first time that it is seen.
        self.on_found: Callable[[Finding], None] = lambda finding: None
        self._log = Log(self.broker.log)
        self.polite: Polite | None = None
        if setup.has_polite:
            self.polite = Polite(self.broker.bootstrap)
            self.polite.start()
        self.idle = self.broker.weight()
        self.heaviest = self.idle

    def note(self, finding: Finding) -> None:
        key = finding.kind, finding.place
        if key not in self.findings:
            self.findings[key] = finding
            self.on_found(finding)

    def over(self, kind: str, place: str, text: str = "") -> NoReturn:
        """Something was found that ends it. Raises Over."""
        self.note(Finding(kind, place, text or place))
        raise Over(place)

    def look(self) -> None:
        """Look at the process, its log, its memory, and the polite client. Raises Over."""
        for finding in self._log.news():
            self.note(finding)
        self.heaviest = max(self.heaviest, self.broker.weight())
        status = self.broker.status()
        if status is not None:
            log = self.broker.log.read_text(errors="replace")
            self.over("died", f"exit status {status}", log[-3000:])
        if self.heaviest - self.idle > self.setup.memory_max_mb << 20:
            grown = (self.heaviest - self.idle) >> 20
            self.over("memory", "too much", f"{grown} MB above idle")
        if self.polite is not None:
            if self.polite.failure is not None:
                self._over_polite(self.polite.failure)
            if self.polite.waits_s() > self.setup.hang_s:
                self.over("polite", "waits", f"for {self.polite.waits_s():.0f} s")

    def end(self) -> None:
        """Stop the broker, and look whether it can start again. Raises Over."""
        if self.polite is not None:
            try:
                self.polite.finish(self.setup.hang_s)
            except BaseException as error:
                self._over_polite(error)
        self.look()
        if self.setup.is_killed:
            self.broker.kill()
        else:
            self._stop()
        if self.setup.ends:
            self._start_again()
            self._verify()
            self._stop()
            self._examine()

    def close(self) -> None:
        if self.polite is not None:
            self.polite.leave()
        if self.broker.status() is None:
            self.broker.kill()

    def _over_polite(self, error: BaseException) -> NoReturn:
        innermost = traceback.extract_tb(error.__traceback__)[-1]
        self.over("polite", f"{type(error).__name__}: {innermost.line}", repr(error))

    def _stop(self) -> None:
        wrong = self.broker.stop(self.setup.stop_s)
        for finding in self._log.news():
            self.note(finding)
        if wrong is not None:
            self.over("stop", wrong, self.broker.log.read_text(errors="replace")[-3000:])

    def _start_again(self) -> None:
        if not self.setup.is_killed:
            self._examine()
        said = self.broker.log.stat().st_size
        try:
            self.broker.start()
        except DidNotStart as error:
            self.over("restart", "does not start", str(error))
        if not self.setup.is_killed:  # then it has nothing to tell
            lines = self.broker.log.read_text(errors="replace")[said:].splitlines(True)
            words = "".join(line for line in lines if _OF_CLIENTS not in line)
            if words:
                self.note(Finding("restart", "says something", words[-3000:]))

    def _examine(self) -> None:
        command = [sys.executable, "-m", SERVE, "repair", "--dry-run", str(self.broker.data)]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=REPAIR_S, cwd=ROOT, check=False
        )
        lines = (done.stdout + done.stderr).splitlines()
        wrong = [line for line in lines if _DELETED not in line]
        if done.returncode != 0 and len(wrong) > len(_AROUND):
            self.note(Finding("damaged", "files", "\n".join(wrong)[-3000:]))

    def _verify(self) -> None:
        if self.polite is None:
            return
        try:
            self.polite.verify(self.broker.bootstrap)
        except Exception as error:
            self.note(Finding("restart", type(error).__name__, repr(error)))


def in_arena(setup: Setup, play: Callable[[Arena], None]) -> Arena:
    """Start a broker, let `play` do what it likes with it, end it. Returns what was seen."""
    with tempfile.TemporaryDirectory(prefix="odradek-fuzz-") as directory:
        arena = Arena(setup, Path(directory))
        try:
            play(arena)
            arena.end()
        except Over:
            return arena
        finally:
            arena.close()
        return arena
