"""The application's processes: started, killed, and started again where one has ended by itself."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from ...emulator.base.real_time import monotonic

_ENDS_MAX = 60
_PAUSE_S = 0.5
_TAIL = 3000


class Ended(Exception):
    """It ends by itself again and again."""


class Processes:
    """Some processes of one command, as whoever runs a service keeps them up."""

    def __init__(
        self, command: Sequence[str], count: int, environment: Mapping[str, str], work: Path
    ) -> None:
        """`work`: their directory, where their output is kept."""
        self._command = list(command)
        self._environment = {**os.environ, **environment}
        self._work = work
        self._running: list[subprocess.Popen[bytes] | None] = [None] * count
        self._not_before = 0.0
        self.ended = 0
        """How often one has ended by itself."""

    @property
    def output(self) -> str:
        path = self._work / "application.log"
        return path.read_text(errors="replace")[-_TAIL:] if path.exists() else ""

    def keep(self) -> None:
        """Start those that do not run. Raises Ended."""
        for index, process in enumerate(self._running):
            if process is not None and process.poll() is not None:
                self.ended += 1
                self._kill(process)
                self._running[index], self._not_before = None, monotonic() + _PAUSE_S
                if self.ended > _ENDS_MAX:
                    raise Ended(f"its processes have ended {self.ended} times:\n{self.output}")
            if self._running[index] is None and monotonic() > self._not_before:
                self._running[index] = self._started(index)

    def kill(self) -> None:
        for index, process in enumerate(self._running):
            if process is not None:
                self._kill(process)
            self._running[index] = None

    def _started(self, index: int) -> subprocess.Popen[bytes]:
        with (self._work / "application.log").open("ab") as log:
            return subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._work,
                env={**self._environment, "INSTANCE": str(index)},
                start_new_session=True,
            )

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
