"""The brokers that are measured, each started as a process of its own.

- Odradek: `odradek serve --port 0`, with its defaults: log segments in a temporary directory.
- Apache Kafka: one KRaft node with the JVM options of Kafka's own start script. Its directory is
  formatted beforehand, which is not part of the time to ready.
- beside: Odradek of another commit.
- kfake: franz-go's fake cluster with one broker. It keeps records in memory, not on disk.

All listen on 127.0.0.1, without TLS. A broker is ready when it first answers ApiVersions; the time
counts from the start of its process. What cannot be started raises Unavailable with one sentence.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from odradek.compat import Unavailable
from odradek.compat.java.jars import jars, java
from odradek.compat.real_kafka import VERSION, RealKafka

from .frames import answers_api_versions
from .programs import built, go_version, required_version
from .weigh.sites import Site, site_of

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 20.0
LOOK_EVERY_S = 0.002

# What kafka-server-start.sh gives the JVM unless told otherwise, and warnings on standard error.
SCRIPT_JVM = [
    "-Xmx1G",
    "-Xms1G",
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
    "-Djava.awt.headless=true",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
]


class Broker(ABC):
    """One broker: `prepare()` once, then `start()` and `stop()` any number of times."""

    name: str
    address: str = ""  # HOST:PORT once started
    ready_s: float = 0.0  # how long the last start took

    @abstractmethod
    def prepare(self) -> str:
        """Fetch and build what it needs; return its versions in one line. Raises Unavailable."""

    @abstractmethod
    def start(self) -> None:
        """Start a fresh broker without data and wait until it is ready. Raises Unavailable."""

    @abstractmethod
    def stop(self) -> None:
        """End the process and remove its files. Does nothing if it is not running."""

    @property
    @abstractmethod
    def pid(self) -> int | None:
        """The process's id, None if it does not run (any more)."""

    @abstractmethod
    def last_words(self) -> str:
        """The last line that the process wrote, and its exit status if it has ended."""


class Command(Broker):
    """A broker whose command prints one line with "ready at HOST:PORT"."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._work: tempfile.TemporaryDirectory[str] | None = None

    def last_words(self) -> str:
        assert self._work is not None
        return _last_words(self._process, Path(self._work.name, "log").read_text(errors="replace"))

    @abstractmethod
    def command(self) -> Sequence[str]:
        """The command line."""

    def environment(self) -> Mapping[str, str]:
        """What the process's environment is made of."""
        return os.environ

    @property
    def pid(self) -> int | None:
        running = self._process is not None and self._process.poll() is None
        return self._process.pid if self._process is not None and running else None

    def start(self) -> None:
        self._work = tempfile.TemporaryDirectory(prefix="odradek-bench-")
        work = Path(self._work.name)
        log = work / "log"
        with log.open("wb") as output:
            begin = time.perf_counter()
            self._process = subprocess.Popen(
                self.command(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self._work.name,
                env={**self.environment(), "TMPDIR": self._work.name},
                start_new_session=True,  # Ctrl-C is for the benchmark, which then stops it
            )
        try:
            self.address = self._wait_for_address(log, begin + START_TIMEOUT_S)
            while not answers_api_versions(self.address):
                self._go_on(begin + START_TIMEOUT_S)
            self.ready_s = time.perf_counter() - begin
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None
        if self._work is not None:
            self._work.cleanup()
            self._work = None

    def _wait_for_address(self, log: Path, deadline: float) -> str:
        while True:
            found = re.search(rb"ready at (\S+:\d+)\b.*\n", log.read_bytes())
            if found:
                return found[1].decode()
            self._go_on(deadline)

    def _go_on(self, deadline: float) -> None:
        """Sleep a little. Raises Unavailable if the process has ended or takes too long."""
        if self.pid is None:
            raise Unavailable(f"{self.name} ended before it was ready: {self.last_words()}")
        if time.perf_counter() > deadline:
            raise Unavailable(f"{self.name} was not ready within {START_TIMEOUT_S:.0f} s")
        time.sleep(LOOK_EVERY_S)


class Odradek(Command):
    """Odradek as installed for this interpreter (from this checkout: `make bench`)."""

    name = "Odradek"

    def prepare(self) -> str:
        try:
            release = version("odradek")
        except PackageNotFoundError:
            raise Unavailable("Odradek is not installed in this environment") from None
        scan = "with" if find_spec("odradek.wire._scan") else "without"
        loop = "uvloop" if find_spec("uvloop") else "asyncio"
        return f"Odradek {release} (Python {platform.python_version()}, {loop}, {scan} C scan)"

    def command(self) -> Sequence[str]:
        return [sys.executable, "-m", "odradek.compat.cli", "serve", "--port", "0"]


class Beside(Command):
    """Odradek of another commit, with this interpreter."""

    name = "beside"

    def __init__(self, commit: str) -> None:
        super().__init__()
        self._commit = commit

    def prepare(self) -> str:
        try:
            self._site: Site = site_of(self._commit)
        except ValueError as error:
            raise Unavailable(str(error)) from None
        return f"Odradek of {self._commit}"

    def command(self) -> Sequence[str]:
        return [sys.executable, "-m", "odradek.compat.cli", "serve", "--port", "0"]

    def environment(self) -> Mapping[str, str]:
        return self._site.environment


class Kfake(Command):
    """franz-go's fake cluster, built from `kfake/main.go`."""

    name = "kfake"

    def prepare(self) -> str:
        self._program = built("kfake")
        release = required_version("kfake", "github.com/twmb/franz-go/pkg/kfake")
        return f"kfake {release} ({go_version()}, in memory)"

    def command(self) -> Sequence[str]:
        return [str(self._program)]


class Kafka(Broker):
    """Apache Kafka, started by the oracle of `odradek.compat`."""

    name = "Kafka"

    def __init__(self) -> None:
        self._node: _TimedKafka | None = None

    def prepare(self) -> str:
        jars(VERSION)
        done = subprocess.run([java(), "-version"], capture_output=True, text=True)
        release = re.search(r'version "([^"]+)"', done.stderr)
        return f"Apache Kafka {VERSION} (Java {release[1] if release else '?'}, {SCRIPT_JVM[0]})"

    def start(self) -> None:
        self._node = _TimedKafka(jvm=SCRIPT_JVM)
        try:
            self._node.start()
        except RuntimeError as error:
            self._node = None
            raise Unavailable(str(error)) from error
        self.address, self.ready_s = self._node.bootstrap_servers, self._node.ready_s

    def stop(self) -> None:
        if self._node is not None:
            self._node.close()
            self._node = None

    @property
    def pid(self) -> int | None:
        return self._node.pid if self._node is not None else None

    def last_words(self) -> str:
        assert self._node is not None
        return self._node.last_words()


class _TimedKafka(RealKafka):
    """A real Kafka that notes when its process was started and when it first answered."""

    ready_s = 0.0

    @property
    def pid(self) -> int | None:
        """The process's id, None if it does not run."""
        if self._process is None or self._process.poll() is not None:
            return None
        return self._process.pid

    def last_words(self) -> str:
        """See Broker."""
        return _last_words(self._process, self.log)

    def _launch(self) -> None:
        self._begin = time.perf_counter()
        super()._launch()

    def _wait_until_ready(self) -> None:
        deadline = self._begin + START_TIMEOUT_S
        while self.pid is not None and time.perf_counter() < deadline:
            if answers_api_versions(self.bootstrap_servers):
                self.ready_s = time.perf_counter() - self._begin
                break
            time.sleep(LOOK_EVERY_S)
        super()._wait_until_ready()  # raises if it never answered; waits for the first Metadata


def _last_words(process: subprocess.Popen[bytes] | None, log: str) -> str:
    lines = log.strip().splitlines() or ["it wrote nothing"]
    status = process.poll() if process is not None else None
    return lines[-1] if status is None else f"{lines[-1]} (exit status {status})"


BROKERS: dict[str, Callable[[], Broker]] = {"odradek": Odradek, "kafka": Kafka, "kfake": Kfake}
