"""A broker in a process of its own, as `odradek serve` starts it."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
import time
from pathlib import Path

from odradek.emulator.config.kafka_3_9 import is_settable

from tests.support.processes import memory
from tests.support.releases import KAFKA_3_9

from .guest import USER

ROOT = Path(__file__).parents[2]
START_S = 60.0
PLAINTEXT = "PLAINTEXT"
SERVE = "odradek.compat.cli"
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

    def __init__(
        self, directory: Path, release: str, module: str = SERVE, listener: str = PLAINTEXT
    ) -> None:
        """`listener` is the security protocol of one more, if it is not that of the first."""
        self._listener = listener
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
        if listener != PLAINTEXT:
            names = ",".join(f"{name}://127.0.0.1:0" for name in (PLAINTEXT, listener))
            self._command += ["--set", f"listeners={names}"]
        if listener.startswith("SASL"):
            mechanisms = "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER"
            self._command += ["--set", f"sasl.enabled.mechanisms={mechanisms}"]
            self._command += ["--user", f"{USER}:{USER}"]
        self._process: subprocess.Popen[str] | None = None
        self.address = self.attacked = ("", 0)

    def start(self) -> None:
        """Start it. Raises DidNotStart."""
        with self.log.open("a") as log:
            said = log.tell()
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
        self.address = self.attacked = found[1], int(found[2])
        if self._listener != PLAINTEXT:
            self.attacked = self._other(said)

    def _other(self, said: int) -> tuple[str, int]:
        """The address of the other listener, which the log has after so many characters. Raises
        DidNotStart."""
        deadline = time.monotonic() + START_S
        wanted = re.compile(rf"of {self._listener} need bootstrap.servers=([^:]+):(\d+),")
        while True:
            found = wanted.search(self.log.read_text(errors="replace"), said)
            if found is not None:
                return found[1], int(found[2])
            if time.monotonic() > deadline:
                self.kill()
                raise DidNotStart(f"nothing was said of the listener {self._listener}")
            time.sleep(0.01)

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

    def held(self) -> tuple[int, int]:
        """How many descriptors and threads it has; 0 where the system does not tell."""
        assert self._process is not None
        process = Path(f"/proc/{self._process.pid}")
        try:
            return tuple(len(os.listdir(process / each)) for each in ("fd", "task"))  # type: ignore[return-value]
        except OSError:
            return 0, 0

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
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._close()

    def _close(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        self._process.stdout.close()
