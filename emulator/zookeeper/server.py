"""A ZooKeeper beside the broker's server, in its thread and event loop, with Kafka's registries."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .keeper import Keeper
from .listening import KeeperServer
from .registry import Registry
from .tree import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from ..base.timers import Timer
    from ..cluster import Cluster
    from ..net.server import Server


class ClusterClock:
    """The clock and the timers of the cluster that is served now."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    def now(self) -> int:
        """In ms."""
        return self.cluster.clock.now()

    def at(self, when: int, callback: Callable[[], None]) -> Timer:
        return self.cluster.timers.at(when, callback)


class ZooKeeperServer(KeeperServer):
    """A ZooKeeper beside a broker's server. Raises OSError if it cannot listen."""

    def __init__(
        self, server: Server, host: str, port: int, limits: Limits = DEFAULT_LIMITS
    ) -> None:
        self._clock = ClusterClock(server.cluster)
        super().__init__(Keeper(self._clock, server.cluster.random, limits), host, port)
        self._is_gone = False
        self.registry = Registry(self.keeper, server.cluster)
        server.beside.append(self)

    def settle(self) -> None:
        if not self._is_gone:
            self.registry.settle()

    def gone(self) -> None:
        self._is_gone = True
        self.registry.gone()

    def attach(self, cluster: Cluster) -> None:
        """Another cluster is served from now on: its timers are others."""
        self._clock.cluster = cluster
        self._is_gone = False
        self.keeper.set_timers_anew()
        self.registry.attach(cluster)
