"""A ZooKeeper beside a real broker of before 3.0: what the two are started with.

The rules:

- ZooKeeper comes with the broker's archives. It runs in the process group of the broker, which one
  shell starts, and its nodes live beside the broker's log directories, so that both are found again
  after a restart.
- A killed broker's session stays until it expires (SESSION_MS): a start waits for that.
- Where `zookeeper.connect` is among the configs, that one is used, and none is started.
- `RealZooKeeper` is one by itself, as it comes with a Kafka.
- Brokers of 0.8 have no `listeners`: they get host and port by themselves.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from ..java.jars import classpath, jars, java, numbers
from .process import free_ports, watcher_of

CONNECT = "zookeeper.connect"
SESSION_MS = 6000
_TICK_MS = 500
_SERVER = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
_LOGGING = """log4j.rootLogger=WARN, stderr
log4j.appender.stderr=org.apache.log4j.ConsoleAppender
log4j.appender.stderr.target=System.err
log4j.appender.stderr.layout=org.apache.log4j.PatternLayout
log4j.appender.stderr.layout.ConversionPattern=[%d] %p %m (%c)%n
"""
_JVM = ["-Dlog4j.configuration=file:log4j.properties", "-Dzookeeper.jmx.log4j.disable=true"]
_START_BOTH = (
    '"$@" {server} zookeeper.properties & sleep {wait_s}; exec "$@" kafka.Kafka server.properties'
)
_ONLY_KRAFT = ("process.roles", "controller.listener.names", "listener.security.protocol.map")


def needs_zookeeper(version: str) -> bool:
    """Whether a broker of this version runs with ZooKeeper: from 3.0 on it is a KRaft node."""
    return numbers(version) < (3, 0)


def lists_no_brokers(version: str) -> bool:
    """Whether Metadata lists no brokers as long as there is no topic."""
    return numbers(version) < (0, 9)


def configured(
    version: str, defaults: Mapping[str, str], port: int, zookeeper_port: int
) -> dict[str, str]:
    """The properties of a broker, in place of those of a KRaft node."""
    found = {name: value for name, value in defaults.items() if name not in _ONLY_KRAFT}
    found |= {
        "broker.id": "1",
        CONNECT: f"127.0.0.1:{zookeeper_port}",
        "zookeeper.session.timeout.ms": str(SESSION_MS),
        "zookeeper.connection.timeout.ms": "60000",
    }
    if numbers(version) < (0, 9):
        return found | {"host.name": "127.0.0.1", "port": str(port)}
    return found | {"listeners": f"PLAINTEXT://127.0.0.1:{port}"}


def write_files(work: Path, port: int, data_dir: Path) -> None:
    properties = {
        "clientPort": str(port),
        "clientPortAddress": "127.0.0.1",
        "dataDir": f"{data_dir}.zookeeper",
        "tickTime": str(_TICK_MS),
        "admin.enableServer": "false",
        "4lw.commands.whitelist": "*",
        "maxClientCnxns": "0",
    }
    lines = [f"{name}={value}\n" for name, value in properties.items()]
    (work / "zookeeper.properties").write_text("".join(lines))
    (work / "log4j.properties").write_text(_LOGGING)


def command(java: Sequence[str], *, is_own: bool, was_killed: bool) -> list[str]:
    """The command that starts the broker, and ZooKeeper, if it is our own."""
    options = [java[0], *_JVM, *java[1:]]
    if not is_own:
        return [*options, "kafka.Kafka", "server.properties"]
    wait_s = 1.5 * SESSION_MS / 1000 if was_killed else 0
    return ["sh", "-c", _START_BOTH.format(server=_SERVER, wait_s=wait_s), "kafka", *options]


class RealZooKeeper:
    """The ZooKeeper of a Kafka's archives: `with RealZooKeeper() as real: connect(real.connect)`.
    What it keeps is gone when it ends. Raises Unavailable (no Java, no archives) and RuntimeError
    from `__enter__`."""

    def __init__(self, kafka_version: str = "2.7.2") -> None:
        self._version = kafka_version
        self.port = 0

    @property
    def connect(self) -> str:
        """Where clients connect to, "127.0.0.1:PORT"."""
        return f"127.0.0.1:{self.port}"

    def __enter__(self) -> RealZooKeeper:
        path = classpath(jars(self._version))
        [self.port] = free_ports(1)
        self._work = Path(tempfile.mkdtemp(prefix="odradek-zookeeper-"))
        write_files(self._work, self.port, self._work / "data")
        self._process = subprocess.Popen(
            [java(), *_JVM, "-cp", path, _SERVER, "zookeeper.properties"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=(self._work / "log").open("wb"),
            cwd=self._work,
            start_new_session=True,
        )
        self._watcher = watcher_of(self._process, self._work)
        try:
            self._wait()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _wait(self) -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self._process.poll() is None:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 5) as asked:
                asked.sendall(b"srvr")  # `ruok` is answered before it serves
                if b"Mode:" in asked.makefile("rb").read():
                    return
            time.sleep(0.05)
        raise RuntimeError(f"no ZooKeeper:\n{(self._work / 'log').read_text()[-2000:]}")

    def _end(self) -> None:
        """The watcher, whose pipe breaks, removes the files."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._watcher.communicate()
