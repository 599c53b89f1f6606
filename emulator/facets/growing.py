"""Brokers that join and leave a cluster, and those that restart one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ..base.node import Node
from ..base.words import number_of
from ..cluster import Cluster
from ..net.server import Server
from ..state.downtime import check_up
from .brokers import BrokerView, BrokerViews
from .facet import Facet

_MOST_NAMED = 5


class _Thread(Protocol):
    """The broker's thread, as far as it is used here."""

    def call_anyhow(self, action: Callable[[Server], Any]) -> Any: ...


class Growing(Facet):
    """Verbs that change which brokers there are."""

    # What of Emulator is used here.
    _racks: dict[int, str | None]
    """Of each broker, by its id."""
    _started: Callable[[], _Thread]
    _listen_for: Callable[[Server, Node], None]

    _last_id = 0
    """The highest one of a broker that has left."""

    @property
    def brokers(self) -> BrokerViews:
        """The brokers of the cluster, by their ids."""
        return BrokerViews(self.run, self.run(lambda cluster: list(cluster.nodes)))

    def add_broker(self, *, rack: str | None = None) -> BrokerView:
        """Start one more broker, with an id that none has had; return it. It has no replicas until
        topics are created or reassigned. It stays until `remove_broker`, also over restarts and a
        `reset`. Raises TypeError, RuntimeError while the cluster is down, OSError if its port is
        taken."""
        if not isinstance(rack, str | None):
            raise TypeError(f"rack is a str, or None for a broker without one, not {rack!r}")

        def done(server: Server) -> int:
            check_up(server)
            node = Node(max(self._last_id, *self._racks) + 1, "", 0, rack=rack)
            self._listen_for(server, node)
            server.cluster.add_broker(node)
            self._racks[node.node_id] = rack
            server.cluster.journal.add("broker added", details={"node": node.node_id})
            return node.node_id

        added: int = self._started().call_anyhow(done)
        self._inside.is_alone = False
        return self.brokers[added]

    def remove_broker(self, broker: int, *, move: bool = False) -> None:
        """Stop a broker, and forget it. With `move` its replicas are moved first, to the brokers
        that have least; else it may have none. Raises ValueError for an id that no broker has,
        RuntimeError for one that has replicas, or is the last one."""
        node_id = self.brokers[broker].id

        def done(cluster: Cluster) -> None:
            others = [each for each in cluster.nodes if each != node_id]
            if not others:
                raise RuntimeError(f"broker {node_id} is the only one, and cannot be removed")
            replication = cluster.replication
            if move:
                replication.empty(node_id)
            _check_empty(cluster, node_id)
            if replication.is_up(node_id):
                replication.stop(node_id)
            cluster.remove_broker(node_id)
            cluster.journal.add("broker removed", details={"node": node_id})

        self.run(done)
        del self._racks[node_id]
        self._last_id = max(self._last_id, node_id)

    def rolling_restart(
        self,
        *,
        between: Callable[[BrokerView], object] | None = None,
        while_down: Callable[[BrokerView], object] | None = None,
    ) -> None:
        """Restart all brokers, one after the other, in the order of their ids. `while_down` is
        called with each after it has stopped, `between` after it is back and in sync. Raises
        RuntimeError for a broker that does not run, and for a single one; and what they raise."""
        if len(self.brokers) == 1:
            raise RuntimeError("there is one broker: kafka.restart() is for it")
        for broker in self.brokers:
            broker.stop()
            try:
                if while_down is not None:
                    while_down(broker)
            finally:
                if broker.state.startswith("down"):
                    broker.start()
            if between is not None:
                between(broker)


def _check_empty(cluster: Cluster, node_id: int) -> None:
    """Raises RuntimeError."""
    left = [f"{each.topic.name}-{each.index}" for each in cluster.replication.replicas_at(node_id)]
    if left:
        named = ", ".join(left[:_MOST_NAMED])
        more = len(left) - _MOST_NAMED
        named += f" and {number_of(more, 'more partition')}" if more > 0 else ""
        todo = f"reassign them first, or call remove_broker({node_id}, move=True)"
        raise RuntimeError(f"broker {node_id} has replicas of {named}: {todo}")
