"""A real Apache Kafka, one KRaft node, started from Maven's archives.

The rules:

- The node is broker and controller at once, bound to 127.0.0.1, with a fixed quorum of itself.
- Its ports are drawn below the ephemeral range, where no outgoing connection can take them
  meanwhile, and stay the same over `restart()`, so that clients find it again.
- It is ready when it answers ApiVersions and then lists a broker in Metadata: the first alone is
  answered while the broker is still fenced.
- Without `data_dir` everything lives in one temporary directory, removed at the end. With one,
  the log directories there stay; a directory that has `meta.properties` is taken as it is.
- It starts in half the time where an archive of its classes was made (class_archive.py).
- The process has its own group, which ends with this interpreter, however that ends: a watcher
  shell waits on a pipe from here; when the pipe breaks it kills the group and removes the files.

- Before 3.0 it runs with a ZooKeeper of its own (zookeeper.py), in place of the controller.

Left out: TLS and SASL (possible through `config`). Several nodes: cluster.py.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..java.jars import classpath, jars, java
from . import zookeeper
from .class_archive import java_options
from .process import free_ports, watcher_of
from .ready import accepts, is_ready, listed
from .tools import JVM, VERSION, run_tool

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 60.0
CLUSTER_ID = "b2RyYWRlay5vZHJhZGVrLg"  # 16 bytes in URL-safe base64, as Kafka wants

DEFAULTS = {
    "process.roles": "broker,controller",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
    "group.streams.initial.rebalance.delay.ms": "0",
    "log.cleaner.dedupe.buffer.size": "4194304",  # allocated at start: 128 MiB by default
}


class RealKafka:
    """One real Kafka node: `with RealKafka() as kafka: connect(kafka.bootstrap_servers)`.

    `config` are broker properties, over the defaults above; `jvm` are the options of its JVM, by
    default those that start it quickest; `ports` are those of the broker and of the controller, by
    default two that are free. With `process.roles=controller` it is no broker. Raises Unavailable
    (no Java, no archives) from `start`, RuntimeError with the last log lines if the node does not
    come up.
    """

    def __init__(
        self,
        version: str = VERSION,
        config: Mapping[str, str] | None = None,
        data_dir: Path | str | None = None,
        jvm: Sequence[str] = JVM,
        ports: tuple[int, int] | None = None,
    ) -> None:
        self.version = version
        self.jvm = list(jvm)
        self.config = dict(config or {})
        # The node runs in a directory of its own.
        self.data_dir = Path(data_dir).absolute() if data_dir is not None else Path()
        self._keeps_data = data_dir is not None
        self._work: Path | None = None  # properties and log of the process; None when closed
        self._process: subprocess.Popen[bytes] | None = None
        self._watcher: subprocess.Popen[bytes] | None = None
        self._ports = ports
        self._port, self._controller_port = ports or (0, 0)
        self._has_zookeeper = zookeeper.needs_zookeeper(version)
        self._was_killed = False

    @property
    def bootstrap_servers(self) -> str:
        """The address clients connect to, "127.0.0.1:PORT"."""
        return f"127.0.0.1:{self._port}"

    @property
    def port(self) -> int:
        """Where clients connect to 127.0.0.1."""
        return self._port

    @property
    def is_broker(self) -> bool:
        """Whether clients connect to it."""
        return self.config.get("process.roles") != "controller"

    @property
    def log(self) -> str:
        """The broker's output so far, standard error included."""
        if self._work is None or not (self._work / "kafka.log").exists():
            return ""
        return (self._work / "kafka.log").read_text(errors="replace")

    def __enter__(self) -> RealKafka:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> RealKafka:
        """Format the directory if it is new, start the node, wait until it is ready."""
        if self._process is not None:
            return self
        jars(self.version)  # before anything else: it may be unavailable
        try:
            if self._work is None:
                self._prepare()
            self._launch()
            self._wait_until_ready()
        except BaseException:
            self.close()
            raise
        return self

    def stop(self) -> None:
        """Shut the node down as SIGTERM does (cleanly); kill it if it takes too long."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End the node at once, as a crash would: nothing is flushed or announced.

        A start after it waits until the controller has given up the old registration, for
        `broker.session.timeout.ms` (9 s).
        """
        self._end(signal.SIGKILL)

    def pause(self) -> None:
        """Let its process stand still (SIGSTOP): connections stay open, and nothing is answered."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let its process go on (SIGCONT)."""
        self._signal(signal.SIGCONT)

    def restart(self) -> None:
        """Stop the node unless it is stopped or killed already, and start it on the same ports."""
        self.stop()
        self.start()

    def close(self) -> None:
        """Stop the node for good and remove its temporary directory. May be called twice.

        A node whose data is removed needs no clean shutdown: it is killed.
        """
        if self._keeps_data:
            self.stop()
        else:
            self.kill()
        if self._work is not None:
            shutil.rmtree(self._work, ignore_errors=True)
            self._work = None
        atexit.unregister(self.close)

    def tool(self, name: str, *args: str) -> subprocess.CompletedProcess[str]:
        """Run a tool of this version, e.g. "org.apache.kafka.tools.DumpLogSegments".

        Works whether or not the node runs. Raises subprocess.TimeoutExpired after 120 s.
        """
        return run_tool(self.version, name, *args)

    def _prepare(self) -> None:
        """Choose ports, write server.properties, format the log directory."""
        self._work = Path(tempfile.mkdtemp(prefix="odradek-kafka-"))
        atexit.register(self.close)
        if not self._keeps_data:
            self.data_dir = self._work / "data"
        if self._ports is None:
            self._port, self._controller_port = free_ports(2)
        identity = _identity(self.data_dir)
        properties = {**self._properties(identity), "log.dirs": str(self.data_dir), **self.config}
        lines = [f"{name}={value}\n".replace("\\", "\\\\") for name, value in properties.items()]
        path = self._work / "server.properties"
        path.write_text("".join(lines))
        if self._has_zookeeper:
            zookeeper.write_files(self._work, self._controller_port, self.data_dir)
        if identity or self._has_zookeeper:
            return
        done = self.tool(
            "kafka.tools.StorageTool", "format", "--cluster-id", CLUSTER_ID, "--config", str(path)
        )
        if done.returncode != 0:
            raise RuntimeError(f"Kafka {self.version} did not format its directory:\n{done.stderr}")

    def _properties(self, identity: Mapping[str, str]) -> dict[str, str]:
        if self._has_zookeeper:
            return zookeeper.configured(self.version, DEFAULTS, self._port, self._controller_port)
        node = identity.get("node.id", "1")
        roles = self.config.get("process.roles", DEFAULTS["process.roles"])
        listeners = {
            "broker": f"PLAINTEXT://127.0.0.1:{self._port}",
            "controller": f"CONTROLLER://127.0.0.1:{self._controller_port}",
        }
        return {
            **DEFAULTS,
            "node.id": node,
            "controller.quorum.voters": f"{node}@127.0.0.1:{self._controller_port}",
            "listeners": ",".join(listeners[role] for role in roles.split(",")),
        }

    def _launch(self) -> None:
        assert self._work is not None
        options = [*self.jvm, *java_options(self.version)]
        command = [java(), *options, "-cp", classpath(jars(self.version))]
        if self._has_zookeeper:
            command = zookeeper.command(
                command, is_own=zookeeper.CONNECT not in self.config, was_killed=self._was_killed
            )
        else:
            command += ["kafka.Kafka", "server.properties"]
        with (self._work / "kafka.log").open("ab") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self._work,
                start_new_session=True,
            )
        self._watcher = watcher_of(self._process, self._work)

    def _wait_until_ready(self) -> None:
        assert self._process is not None
        deadline = time.monotonic() + START_TIMEOUT_S
        while not self._is_ready():
            status = self._process.poll()
            if status is not None or time.monotonic() > deadline:
                what = "did not start in time" if status is None else f"ended with {status}"
                tail = "\n".join(self.log.splitlines()[-30:])
                raise RuntimeError(f"Kafka {self.version} {what}; its last lines:\n{tail}")
            time.sleep(0.05)

    def _is_ready(self) -> bool:
        if zookeeper.lists_no_brokers(self.version):
            return accepts("127.0.0.1", self._port)
        if self._has_zookeeper:
            return listed("127.0.0.1", self._port, asks_versions=False) > 0
        if self.is_broker:
            return is_ready("127.0.0.1", self._port)
        return accepts("127.0.0.1", self._controller_port)

    def _signal(self, what: signal.Signals) -> None:
        if self._process is None:
            raise RuntimeError("the node does not run")
        os.killpg(self._process.pid, what)

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        self._was_killed = how == signal.SIGKILL
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            watcher.kill()
            watcher.communicate()
        if process is None:
            return
        if how == signal.SIGTERM:
            process.send_signal(how)  # not to ZooKeeper: the broker takes its leave of that
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(STOP_TIMEOUT_S)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(STOP_TIMEOUT_S)


def _identity(data_dir: Path) -> dict[str, str]:
    """Return what meta.properties says, or nothing if the directory is not formatted."""
    try:
        text = (data_dir / "meta.properties").read_text()
    except FileNotFoundError:
        return {}
    pairs = (line.partition("=") for line in text.splitlines() if not line.startswith("#"))
    return {name.strip(): value.strip() for name, equals, value in pairs if equals}
