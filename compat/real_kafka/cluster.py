"""A real Apache Kafka of several KRaft nodes: what a cluster of the emulator is compared with.

    with RealCluster(3, racks=["a", "b", "c"]) as kafka:
        kafka.nodes[2].kill()

- Each node is broker and controller at once (node.py), numbered from 1; all of them vote. A
  majority has to run for anything of the metadata to change. With `has_own_controller` they are
  brokers only, and one more node, with the id CONTROLLER, is the controller: any broker may go.
- It is ready when every node lists all of them in Metadata.
- `pause` and `resume` of a node stop its process and let it go on (SIGSTOP, SIGCONT).

Left out: nodes that are added later, directories of a caller's own.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from .node import START_TIMEOUT_S, RealKafka
from .process import free_ports
from .ready import listed
from .tools import JVM, VERSION

CONTROLLER = 1000
_MOST_REPLICAS = 3


class RealCluster:
    """Nodes of a real Kafka, by their ids. `config` are properties of every node, over those of
    RealKafka; `racks` are theirs, in the order of the ids.

    Raises Unavailable from `start`, and RuntimeError if they do not come up.
    """

    def __init__(
        self,
        nodes: int = 3,
        version: str = VERSION,
        config: Mapping[str, str] | None = None,
        racks: Sequence[str] | None = None,
        jvm: Sequence[str] = JVM,
        *,
        has_own_controller: bool = False,
    ) -> None:
        ids = range(1, nodes + 1)
        voting = [CONTROLLER] if has_own_controller else list(ids)
        free = free_ports(2 * (nodes + 1))
        ports = {node_id: (free.pop(), free.pop()) for node_id in {*ids, *voting}}
        voters = ",".join(f"{node_id}@127.0.0.1:{ports[node_id][1]}" for node_id in voting)
        replicas = str(min(nodes, _MOST_REPLICAS))
        in_sync = str(min(nodes, _MOST_REPLICAS - 1))
        shared = {
            "controller.quorum.voters": voters,
            "offsets.topic.replication.factor": replicas,
            "transaction.state.log.replication.factor": replicas,
            "transaction.state.log.min.isr": in_sync,
            "share.coordinator.state.topic.replication.factor": replicas,
            "share.coordinator.state.topic.min.isr": in_sync,
            **(config or {}),
        }
        self.nodes: dict[int, RealKafka] = {}
        for place, node_id in enumerate(ids):
            own = {**shared, "node.id": str(node_id)}
            if racks is not None:
                own["broker.rack"] = racks[place]
            if has_own_controller:
                own["process.roles"] = "broker"
            self.nodes[node_id] = RealKafka(version, own, jvm=jvm, ports=ports[node_id])
        self._all = list(self.nodes.values())
        self.controller: RealKafka | None = None
        """The one that is no broker, `has_own_controller`."""
        if has_own_controller:
            own = {**shared, "node.id": str(CONTROLLER), "process.roles": "controller"}
            self.controller = RealKafka(version, own, jvm=jvm, ports=ports[CONTROLLER])
            self._all.append(self.controller)

    @property
    def bootstrap_servers(self) -> str:
        return ",".join(node.bootstrap_servers for node in self.nodes.values())

    def __enter__(self) -> RealCluster:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> RealCluster:
        """Start those nodes that do not run, and wait until every node lists all of them."""
        try:
            with ThreadPoolExecutor(len(self._all)) as pool:
                list(pool.map(RealKafka.start, self._all))
            deadline = time.monotonic() + START_TIMEOUT_S
            while min(map(_listed, self.nodes.values())) < len(self.nodes):
                if time.monotonic() > deadline:
                    raise RuntimeError(f"{self.bootstrap_servers} did not all join in time")
                time.sleep(0.05)
        except BaseException:
            self.close()
            raise
        return self

    def close(self) -> None:
        """Kill all nodes, and remove their directories."""
        for node in self._all:
            node.close()


def _listed(node: RealKafka) -> int:
    return listed("127.0.0.1", node.port)
