"""The two clusters of a comparison: three brokers each, with the same configs and racks.

The times after which a real cluster notices something are short, and the same on both sides. The
internal topics have few partitions; whom these are on is made the same (engine.py).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from odradek import Emulator
from odradek.compat import RealCluster

from ..ask.clusters import CONTROLLER
from ..engine.brokers import CONFIG as OF_ANY

NODES = (1, 2, 3)
RACKS = ["a", "b", "c"]
INTERNAL_PARTITIONS = 3
_NOTED_S = 0.5
"""After so long a real broker has written down its high watermarks."""
CONFIG = OF_ANY | {
    "broker.session.timeout.ms": "6000",
    "broker.heartbeat.interval.ms": "500",
    "replica.lag.time.max.ms": "6000",
    "auto.leader.rebalance.enable": "false",
    "unclean.leader.election.interval.ms": "2000",
    "offsets.topic.num.partitions": str(INTERNAL_PARTITIONS),
    "transaction.state.log.num.partitions": str(INTERNAL_PARTITIONS),
    "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector",
}
"""The configs of all brokers."""
REAL_CONFIG = CONFIG | {
    # Followers hear of a high watermark, and of their leader, after so long at most.
    "replica.fetch.wait.max.ms": "50",
    "replica.fetch.backoff.ms": "100",
    # A killed one knows the high watermark that was noted last.
    "replica.high.watermark.checkpoint.interval.ms": "200",
}
"""Those of the real ones."""


class Brokers(Protocol):
    running: dict[int, bool]
    """Whether each broker runs, by its id: neither stopped, nor killed, nor paused."""
    has_quorum: bool

    @property
    def bootstrap_servers(self) -> str: ...

    def do(self, verb: str, node: int) -> None: ...

    def mend(self) -> None: ...

    def renew(self) -> None: ...

    def kill(self) -> None: ...

    def restart(self) -> None: ...


class Notes:
    """What each broker of a cluster was told last."""

    def __init__(self) -> None:
        self.running = dict.fromkeys(NODES, True)
        self.paused: set[int] = set()
        self.has_quorum = True

    def note(self, verb: str, node: int) -> None:
        """Keep in mind what a broker is told, or the controller."""
        if node == CONTROLLER:
            self.has_quorum = verb == "start"
            return
        self.running[node] = verb in ("start", "resume")
        if verb == "pause":
            self.paused.add(node)
        else:
            self.paused.discard(node)

    def verbs(self) -> list[tuple[str, int]]:
        """What makes all of them run, the controller first."""
        lost = [] if self.has_quorum else [("start", CONTROLLER)]
        down = [node for node, runs in self.running.items() if not runs]
        return lost + [("resume" if node in self.paused else "start", node) for node in down]


class EmulatedCluster(Notes):
    def __init__(self, config: Mapping[str, str] = CONFIG) -> None:
        super().__init__()
        self._config = config
        self.emulator = self._new()

    def _new(self) -> Emulator:
        return Emulator(self._config, brokers=len(NODES), racks=RACKS).start()

    @property
    def bootstrap_servers(self) -> str:
        """The addresses of all, with commas."""
        return self.emulator.bootstrap_servers

    def do(self, verb: str, node: int) -> None:
        """Stop, kill, start, pause or resume a broker; kill or start the controller."""
        if node == CONTROLLER:
            if verb == "kill":
                self._lost = self.emulator.without_quorum()
            else:
                self._lost.heal()
        else:
            getattr(self.emulator.brokers[node], verb)()
        self.note(verb, node)

    def mend(self) -> None:
        for verb, node in self.verbs():
            self.do(verb, node)

    def renew(self) -> None:
        self.emulator.stop()
        super().__init__()
        self.emulator = self._new()

    def kill(self) -> None:
        self.emulator.kill()

    def restart(self) -> None:
        self.emulator.restart()

    def __enter__(self) -> EmulatedCluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.emulator.stop()


class RealBrokers(Notes):
    """Three brokers of a real Kafka, and a controller of their own: any of them may be down."""

    def __init__(self) -> None:
        super().__init__()
        self._cluster = _real()

    @property
    def bootstrap_servers(self) -> str:
        """The addresses of all, with commas."""
        return self._cluster.bootstrap_servers

    def do(self, verb: str, node: int) -> None:
        """Stop, kill, start, pause or resume a broker; a started one answers then. Kill or start
        the controller."""
        if verb == "kill":
            time.sleep(_NOTED_S)
        controller = self._cluster.controller
        assert controller is not None
        getattr(controller if node == CONTROLLER else self._cluster.nodes[node], verb)()
        self.note(verb, node)

    def mend(self) -> None:
        """Let all brokers run, and the controller."""
        if not self.has_quorum:
            self.do("start", CONTROLLER)
        verbs = self.verbs()
        if verbs:
            with ThreadPoolExecutor(len(verbs)) as pool:
                list(pool.map(lambda each: self.do(*each), verbs))

    def renew(self) -> None:
        self._cluster.close()
        super().__init__()
        self._cluster = _real()
        self._cluster.start()

    def kill(self) -> None:
        for node in NODES:
            self.do("kill", node)

    def restart(self) -> None:
        for node in self._cluster.nodes.values():
            node.stop()
        self.running = dict.fromkeys(NODES, False)
        self.mend()

    def __enter__(self) -> RealBrokers:
        self._cluster.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._cluster.close()


def _real() -> RealCluster:
    return RealCluster(len(NODES), config=REAL_CONFIG, racks=RACKS, has_own_controller=True)
