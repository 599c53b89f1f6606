"""What is attacked: where it listens, and its process."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.processes import HAS_PROC


@dataclass(frozen=True)
class Target:
    address: str
    pid: int

    @contextmanager
    def held(self) -> Iterator[None]:
        """The broker stands still meanwhile: what is sent is all there when it goes on."""
        os.kill(self.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self.pid, signal.SIGCONT)
            while HAS_PROC and "T" in self._thread_states():
                time.sleep(0.001)

    def _thread_states(self) -> set[str]:
        stats = Path(f"/proc/{self.pid}/task").glob("*/stat")
        return {stat.read_text().rpartition(")")[2].split()[0] for stat in stats}
