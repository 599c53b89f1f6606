"""A broker in a process of its own, which can be stopped, killed and started again.

Its port is drawn once, below the range that the system gives to outgoing connections: nobody takes
it while the broker is away, and clients find the broker again.
"""

from __future__ import annotations

import random
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from odradek.compat.clients import within

SERVE = [sys.executable, "-m", "odradek.compat.cli", "serve"]
START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 60.0
PORTS = range(20_000, 32_000)


class Served:
    """`odradek serve` on a directory. What it says on standard error shows when a test fails."""

    def __init__(
        self,
        data_dir: Path,
        configs: Mapping[str, str] | None = None,
        port: int | None = None,
        advertised: str | None = None,
    ) -> None:
        """Without `port` one is drawn, and kept; 0 lets the system choose at each start."""
        self.data_dir = data_dir
        self.bootstrap_servers = ""
        self._options = ["--port", str(free_port() if port is None else port)]
        self._options += ["--data-dir", str(data_dir)]
        for name, value in (configs or {}).items():
            self._options += ["--set", f"{name}={value}"]
        if advertised is not None:
            self._options += ["--advertised", advertised]
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start the process; return when it says that it is ready."""
        assert self._process is None, "it runs already"
        process = subprocess.Popen([*SERVE, *self._options], stdout=subprocess.PIPE, text=True)
        self._process = process
        assert process.stdout is not None
        line = within(START_TIMEOUT_S, "the start of a broker", process.stdout.readline)
        assert line.startswith("odradek ready at "), f"{line!r}, exit status {process.poll()}"
        self.bootstrap_servers = line.split()[3]

    def stop(self) -> None:
        """Stop it as SIGTERM does, which must be clean."""
        assert self._end(signal.SIGTERM) == 0
        assert (self.data_dir / ".kafka_cleanshutdown").exists()

    def kill(self) -> None:
        """End it at once, as a crash would."""
        assert self._end(signal.SIGKILL) == -signal.SIGKILL
        assert not (self.data_dir / ".kafka_cleanshutdown").exists()

    def restart(self) -> None:
        """Stop it cleanly, and start it on the same port."""
        self.stop()
        self.start()

    def __enter__(self) -> Served:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> int:
        process, self._process = self._process, None
        assert process is not None, "it does not run"
        process.send_signal(how)
        try:
            process.communicate(timeout=STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
        return process.returncode


def free_port() -> int:
    """Draw a port of 127.0.0.1 on which nobody listens."""
    for port in random.SystemRandom().sample(PORTS, 200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port
    raise RuntimeError(f"no free port between {PORTS.start} and {PORTS.stop}")
