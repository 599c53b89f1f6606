"""The broker that an application runs on: `odradek serve` in a process of its own, or a real Kafka.

Both keep their port and their files over a kill.
"""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from ...emulator.base.real_time import monotonic, sleep
from ..real_kafka import VERSION, RealKafka
from ..real_kafka.process import free_ports

ODRADEK, KAFKA = "odradek", "kafka"
_OF_GROUPS = {
    "session.timeout.ms": "6000",
    "min.session.timeout.ms": "6000",
    "heartbeat.interval.ms": "1000",
    "min.heartbeat.interval.ms": "1000",
}
CONFIG = {
    # Members that are killed are missed after 6 s instead of 45.
    **{
        f"group.{kind}.{name}": value
        for kind in ("consumer", "share", "streams")
        for name, value in _OF_GROUPS.items()
    },
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
}
"""What both are started with beside the defaults, to have the job done sooner."""
_START_S = 60.0
_SESSION_MS = 2000


class Broker(Protocol):
    @property
    def bootstrap_servers(self) -> str:
        """Where clients connect to."""

    def start(self) -> object:
        """Start it, also after a kill; return when it is ready."""

    def kill(self) -> None:
        """SIGKILL."""

    def close(self) -> None:
        """End it for good."""


class Served:
    """`odradek serve`, in a process of its own."""

    def __init__(
        self, work: Path, config: Mapping[str, str], port: int = 0, timing: str = "instant"
    ) -> None:
        """`work`: where its data and its log are kept; `port`: 0 for a free one; `timing`:
        that of `odradek serve`."""
        self._work, self._config, self._timing = work, config, timing
        self._port = port or free_ports(1)[0]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def bootstrap_servers(self) -> str:
        return f"127.0.0.1:{self._port}"

    def start(self) -> None:
        """Start it; return when it is ready. Raises RuntimeError with what it has written."""
        ready = self._work / "ready.json"
        ready.unlink(missing_ok=True)
        command = [sys.executable, "-m", "odradek", "serve", "--no-file", "--until-stdin-ends"]
        command += ["--port", str(self._port), "--data-dir", str(self._work / "data")]
        command += ["--ready-file", str(ready), "--timing", self._timing]
        for name, value in self._config.items():
            command += ["--set", f"{name}={value}"]
        with (self._work / "broker.log").open("ab") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=log, stderr=log, cwd=self._work
            )
        deadline = monotonic() + _START_S
        while not ready.exists():
            if self._process.poll() is not None or monotonic() > deadline:
                text = (self._work / "broker.log").read_text(errors="replace")
                raise RuntimeError("the broker did not start:\n" + text[-2000:])
            sleep(0.02)

    def kill(self) -> None:
        """SIGKILL."""
        self._end(signal.SIGKILL)

    def close(self) -> None:
        self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(how)
            process.communicate()


def broker(
    kind: str,
    work: Path,
    config: Mapping[str, str] = CONFIG,
    port: int = 0,
    timing: str = "instant",
) -> Broker:
    """A broker of that kind, not started. A real one is soon let in again after a kill, and has
    its own timing. `port`: where it listens, 0 for a free one."""
    if kind == ODRADEK:
        return Served(work, config, port, timing)
    ports = (port, free_ports(1)[0]) if port else None
    soon = {"broker.session.timeout.ms": str(_SESSION_MS)}
    return RealKafka(config={**config, **soon}, ports=ports)


def is_free(port: int) -> bool:
    """Whether nothing listens at that port of 127.0.0.1."""
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) != 0


def version_of(kind: str) -> str:
    if kind == KAFKA:
        return VERSION
    # The metadata of a clone are those of when it was installed.
    return str(sys.modules["odradek"].__version__)
