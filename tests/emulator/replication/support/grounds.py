"""Where transcripts are played: in a cluster without sockets, or by a real Kafka of three nodes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from odradek.compat import RealCluster
from odradek.emulator.cluster import Cluster
from odradek.emulator.replication.brokers import Process
from odradek.wire import Request

from tests.support.cluster import Client
from tests.support.connection import Connection

CONFIG = {
    "broker.session.timeout.ms": "6000",
    "broker.heartbeat.interval.ms": "500",
    "replica.lag.time.max.ms": "3000",
    "auto.leader.rebalance.enable": "false",
}
REAL_CONFIG = CONFIG | {"unclean.leader.election.interval.ms": "2000"}
_LATER_MS = 10_000
_STEP_MS = 100
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
        while not answers:
            self._cluster.advance(_STEP_MS)
            answers = client.answers()
        (answer,) = answers
        return answer

    def running(self) -> list[int]:
        """Those that are at work."""
        brokers = self._cluster.replication.brokers
        return [node_id for node_id, each in brokers.items() if each.process is Process.UP]

    def do(self, verb: str, node_id: int) -> None:
        """One of the verbs of the replication."""
        getattr(self._cluster.replication, verb)(node_id)
        self._cluster.settle()

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

    def ask(self, node_id: int, request: Request, version: int) -> Any:
        """The answer, on a connection of its own."""
        with Connection(self._cluster.nodes[node_id].bootstrap_servers) as connection:
            return connection.ask(request, version)

    def running(self) -> list[int]:
        """Those that were not stopped."""
        return [node_id for node_id, runs in self._running.items() if runs]

    def do(self, verb: str, node_id: int) -> None:
        """End a process, or let it go on, once followers have heard of the high watermark."""
        time.sleep(_HEARD_S)
        getattr(self._cluster.nodes[node_id], verb)()
        self._running[node_id] = verb in ("start", "resume")

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
