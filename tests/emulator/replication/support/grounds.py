"""Where transcripts are played: in a cluster without sockets, or by a real Kafka of three nodes."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from odradek.compat import RealCluster
from odradek.emulator.cluster import Cluster
from odradek.emulator.replication import lagging
from odradek.emulator.replication.brokers import Process
from odradek.wire import Request

from tests.support.cluster import Client
from tests.support.connection import Connection

CONFIG = {
    "broker.session.timeout.ms": "6000",
    "broker.heartbeat.interval.ms": "500",
    "replica.lag.time.max.ms": "3000",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
    "auto.leader.rebalance.enable": "false",
    "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector",
}
RACKS = ["a", "b", "c"]
REAL_CONFIG = CONFIG | {"unclean.leader.election.interval.ms": "2000"}
_WAITS, _CLOSED = "waits", "closed"
_PARKED_S = 2.0
_LATER_MS = 10_000
_STEP_MS = 100
_MOST_STEPS = 300
_HEARD_S = 1.5
_WAIT_S = 40.0
_STABLE_S = 1.5
_LATER_S = 14.0


class Emulated:
    """A cluster under a manual clock."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def ask(self, node_id: int, request: Request, version: int) -> Any:
        """The answer; one that waits is given when time has passed."""
        client = Client(self._cluster, node_id=node_id)
        client.send(request, version)
        answers = client.answers()
        for _ in range(_MOST_STEPS):
            if answers:
                break
            self._cluster.advance(_STEP_MS)
            answers = client.answers()
        (answer,) = answers
        return answer

    def park(self, node_id: int, request: Request, version: int) -> Callable[[], Any]:
        """What is there of the answer when it is asked for."""
        client = Client(self._cluster, node_id=node_id)
        client.send(request, version)
        return lambda: next(iter(client.answers()), _CLOSED if client.is_closed else _WAITS)

    def running(self) -> list[int]:
        """Those that are at work."""
        brokers = self._cluster.replication.brokers
        return [node_id for node_id, each in brokers.items() if each.process is Process.UP]

    def do(self, verb: str, node_id: int) -> None:
        """One of the verbs of the replication."""
        getattr(self._cluster.replication, verb)(node_id)
        self._cluster.settle()

    def lag(self, verb: str, node_id: int, records: int | None) -> None:
        """One of the verbs of lagging.py."""
        words = [records] if verb == "lag" else []
        partition = self._cluster.partition("t", 0)
        getattr(lagging, verb)(self._cluster.replication, partition, node_id, *words)
        self._cluster.settle()

    def now(self) -> int:
        """The cluster's time, in ms."""
        return self._cluster.clock.now()

    def wait(self) -> None:
        """A moment."""
        self._cluster.advance(_STEP_MS)

    def later(self) -> None:
        """Let time pass."""
        self._cluster.advance(_LATER_MS)

    def settled(self, state: Callable[[], str], expected: str) -> str:
        """Nothing changes without time."""
        return state()


class Real:
    """Three nodes."""

    def __init__(self, cluster: RealCluster) -> None:
        self._cluster = cluster
        self._running = dict.fromkeys(cluster.nodes, True)
        self._is_later = False
        self._pool = ThreadPoolExecutor()

    def ask(self, node_id: int, request: Request, version: int) -> Any:
        """The answer, on a connection of its own."""
        with Connection(self._cluster.nodes[node_id].bootstrap_servers) as connection:
            return connection.ask(request, version)

    def park(self, node_id: int, request: Request, version: int) -> Callable[[], Any]:
        """The answer that comes within a while."""
        future: Future[Any] = self._pool.submit(self.ask, node_id, request, version)

        def look() -> Any:
            try:
                return future.result(_PARKED_S)
            except TimeoutError:
                return _WAITS
            except (OSError, EOFError):
                return _CLOSED

        time.sleep(_HEARD_S)
        return look

    def running(self) -> list[int]:
        """Those that were not stopped."""
        return [node_id for node_id, runs in self._running.items() if runs]

    def lag(self, verb: str, node_id: int, records: int | None) -> None:
        """A real node cannot be made to."""
        raise NotImplementedError(verb)

    def do(self, verb: str, node_id: int) -> None:
        """End a process, or let it go on, once followers have heard of the high watermark."""
        time.sleep(_HEARD_S)
        getattr(self._cluster.nodes[node_id], verb)()
        self._running[node_id] = verb in ("start", "resume")

    def now(self) -> int:
        """The time in ms."""
        return int(time.time() * 1000)

    def wait(self) -> None:
        """A moment."""
        time.sleep(_STEP_MS / 1000)

    def later(self) -> None:
        """The next look has to wait for it."""
        self._is_later = True

    def settled(self, state: Callable[[], str], expected: str) -> str:
        """Poll until it is what is expected. Without that, until it has not changed for a while."""
        is_later, self._is_later = self._is_later, False
        begin = since = time.monotonic()
        last = ""
        while True:
            try:
                found = state()
            except (OSError, EOFError):  # not ready yet
                found = ""
            now = time.monotonic()
            if found != last:
                last, since = found, now
            if found and found == expected:
                return found
            least = _LATER_S if is_later else 0.0
            if not expected and found and now - since > _STABLE_S and now - begin > least:
                return found
            if now - begin > _WAIT_S:
                return found
            time.sleep(0.1)
