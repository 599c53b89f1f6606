"""Brokers that join and leave a cluster, and those that restart one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from inspect import iscoroutinefunction

from .. import parameters
from ..base.node import Node
from ..cluster import Cluster
from ..net.server import Server
from ..state.downtime import check_up
from .brokers import BrokerView, BrokerViews
from .facet import Facet, Thread


class Growing(Facet):
    """Verbs that change which brokers there are."""

    # What of Emulator is used here.
    _racks: dict[int, str | None]
    """Of each broker, by its id."""
    _started: Callable[[], Thread]
    _listen_for: Callable[[Server, Node], None]

    _last_id = 0
    """The highest one that was given to a broker later."""

    @property
    def brokers(self) -> BrokerViews:
        """The brokers of the cluster, by their ids."""
        return BrokerViews(self.run, self.run(lambda cluster: list(cluster.nodes)))

    def add_broker(self, *, rack: str | None = None) -> BrokerView:
        """Start one more broker, with an id that none has had; return it. It has no replicas until
        topics are created or reassigned, unless a `data_dir` names it as one of a partition. While
        the network between brokers is broken it is on the controller's side. It stays until
        `remove_broker`, also over restarts and a `reset`. Raises, with nothing changed: TypeError,
        RuntimeError while the cluster is down, Refused(REQUEST_TIMED_OUT) without a controller,
        OSError if its port is taken, ValueError for an empty rack."""
        parameters.rack_name(rack)

        def done(server: Server) -> int:
            check_up(server)
            server.cluster.replication.check_controlled("no broker can join")
            node = Node(max(self._last_id, *self._racks) + 1, "", 0, rack=rack)
            try:
                self._listen_for(server, node)
                self._last_id = node.node_id
                server.cluster.add_broker(node)
            except BaseException:
                server.forget(node.node_id)
                raise
            self._racks[node.node_id] = rack
            server.cluster.journal.add("broker added", details={"node": node.node_id})
            return node.node_id

        added: int = self._started().call_anyhow(done)
        self._inside.is_alone = False
        return self.brokers[added]

    def remove_broker(self, broker: int, *, move: bool = False) -> None:
        """Stop a broker, and forget it. With `move` its replicas are moved first, to the brokers
        that have least; else it may have none. A partition that all brokers have then has one
        replica less. While the network between brokers is broken, its side is one broker smaller.

        Raises, with nothing changed: ValueError for an id that no broker has; RuntimeError for one
        that has replicas, with `move` for one of which a replica cannot be moved, and for the last
        one that runs; Refused(REQUEST_TIMED_OUT) without a controller.
        """
        from ..replication.leaving import begin_to_leave, leave

        node_id = self.brokers[broker].id

        def begin(cluster: Cluster) -> Future[None] | None:
            if len(cluster.nodes) == 1:
                raise RuntimeError(f"broker {node_id} is the only one, and cannot be removed")
            gone = begin_to_leave(cluster, node_id, moves=move)
            return None if self._started().is_current else gone

        def end(cluster: Cluster) -> None:
            leave(cluster, node_id)
            cluster.journal.add("broker removed", details={"node": node_id})

        gone = self.run(begin)
        if gone is not None:
            gone.result()
        self.run(end)
        del self._racks[node_id]
        self._last_id = max(self._last_id, node_id)

    def rolling_restart(
        self,
        *,
        between: Callable[[BrokerView], object] | None = None,
        while_down: Callable[[BrokerView], object] | None = None,
    ) -> None:
        """Restart all brokers, one after the other, in the order of their ids. `while_down` is
        called with each after it has stopped, `between` after it is back and in sync; a broker that
        one of them removes is left out. Raises, before any is stopped, TypeError for what is no
        function or a coroutine function, RuntimeError for a broker that does not run or reaches no
        controller, and for a single one; and what they raise."""
        _check_called("between", between)
        _check_called("while_down", while_down)
        brokers = list(self.brokers)
        if len(brokers) == 1:
            raise RuntimeError("there is one broker: kafka.restart() is for it")
        self.run(lambda cluster: _check_restart(cluster, brokers))
        for broker in brokers:
            if not self._has(broker):
                continue
            broker.stop()
            try:
                if while_down is not None:
                    while_down(broker)
            finally:
                if self._has(broker) and broker.state.startswith("down"):
                    broker.start()
            if between is not None and self._has(broker):
                between(broker)

    def _has(self, broker: BrokerView) -> bool:
        """Whether it was not removed."""
        return self.run(lambda cluster: broker.id in cluster.nodes)


def _check_restart(cluster: Cluster, brokers: Iterable[BrokerView]) -> None:
    """Raises RuntimeError."""
    for each in brokers:
        cluster.replication.check_restarts(each.id)


def _check_called(name: str, given: object) -> None:
    """Raises TypeError."""
    if given is None:
        return
    if iscoroutinefunction(given):
        raise TypeError(f"{name} is called and not awaited: give a function, not {given!r}")
    if not callable(given):
        raise TypeError(f"{name} is a function of a broker, not {given!r}")
