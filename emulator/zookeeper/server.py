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
    from .data_dir import DataDir


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
    """A ZooKeeper beside a broker's server; it begins with the nodes of its dataDir, and keeps them
    there. Raises OSError if it cannot listen."""

    def __init__(
        self,
        server: Server,
        host: str,
        port: int,
        limits: Limits = DEFAULT_LIMITS,
        *,
        data_dir: DataDir | None = None,
    ) -> None:
        self._clock, self._data_dir = ClusterClock(server.cluster), data_dir
        keeper = Keeper(self._clock, server.cluster.random, limits)
        tree = None if data_dir is None else data_dir.tree
        if tree is not None:
            keeper.tree.restore(tree.nodes, tree.zxid)
        super().__init__(keeper, host, port)
        if data_dir is not None:
            data_dir.follow(keeper.tree)
        self._is_gone = False
        self.registry = Registry(self.keeper, server.cluster)
        server.beside.append(self)

    async def close(self) -> None:
        await super().close()
        if self._data_dir is not None:
            self._data_dir.close()

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
