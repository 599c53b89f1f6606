"""A broker in a process of its own, as `odradek serve` starts it."""

from __future__ import annotations

import re
import select
import subprocess
import sys
from pathlib import Path

from odradek.emulator.base.release import KAFKA_3_9
from odradek.emulator.config.kafka_3_9 import is_settable

from tests.support.processes import memory

ROOT = Path(__file__).parents[2]
START_S = 60.0
SERVE = "odradek.emulator.cli"
CONFIG = {
    # Sequences write records of long ago, which retention would delete at any moment.
    "log.retention.ms": "-1",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.num.partitions": "4",
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.assignment.interval.ms": "0",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "100",
    # What runs at times runs often.
    "log.retention.check.interval.ms": "2000",
    "log.cleaner.backoff.ms": "1000",
    "log.flush.scheduler.interval.ms": "1000",
    "log.flush.offset.checkpoint.interval.ms": "2000",
    "log.cleaner.dedupe.buffer.size": "4194304",
}


class DidNotStart(Exception):
    """The process ended, or said nothing."""


class Broker:
    """One process on a directory. What it says on standard error goes to the file `log`."""

    def __init__(self, directory: Path, release: str, module: str = SERVE) -> None:
        self.log = directory / "log"
        self.data = directory / "data"
        settings = {
            name: value
            for name, value in CONFIG.items()
            if not release.startswith(KAFKA_3_9.name) or is_settable(name)
        }
        self._command = [sys.executable, "-m", module, "serve", "--port", "0"]
        self._command += ["--data-dir", str(self.data), "--kafka-version", release]
        self._command += [part for pair in settings.items() for part in ("--set", "=".join(pair))]
        self._process: subprocess.Popen[str] | None = None
        self.address = ("", 0)

    def start(self) -> None:
        """Start it. Raises DidNotStart."""
        with self.log.open("a") as log:
            self._process = subprocess.Popen(
                self._command, stdout=subprocess.PIPE, stderr=log, cwd=ROOT, text=True
            )
        stdout = self._process.stdout
        assert stdout is not None
        ready = select.select([stdout], [], [], START_S)[0]
        found = re.search(r"ready at (\S+):(\d+)", stdout.readline() if ready else "")
        if found is None:
            self.kill()
            raise DidNotStart(self.log.read_text(errors="replace")[-2000:])
        self.address = found[1], int(found[2])

    @property
    def bootstrap(self) -> str:
        """HOST:PORT."""
        return f"{self.address[0]}:{self.address[1]}"

    def status(self) -> int | None:
        """Its exit status, None while it runs."""
        assert self._process is not None
        return self._process.poll()

    def weight(self) -> int:
        """Bytes of memory that it takes, but for those that a file stands for; 0 if it is gone."""
        assert self._process is not None
        try:
            found = memory(self._process.pid)
        except (OSError, ValueError, KeyError):
            self._process.wait()
            return 0
        return found.resident if found.anonymous is None else found.anonymous

    def stop(self, limit_s: float) -> str | None:
        """End it by SIGTERM, for good if that takes long. Returns what was wrong with its end."""
        process = self._process
        assert process is not None
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(limit_s)
            except subprocess.TimeoutExpired:
                self.kill()
                return f"not ended by SIGTERM within {limit_s:.0f} s"
        self._close()
        return None if process.returncode == 0 else f"exit status {process.returncode}"

    def kill(self) -> None:
        """End it for good."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._close()

    def _close(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        self._process.stdout.close()
