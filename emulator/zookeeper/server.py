"""A ZooKeeper beside the broker's server, in its thread and event loop, with Kafka's registries."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from .files import save
from .keeper import Keeper
from .listening import KeeperServer
from .registry import Registry
from .tree import DEFAULT_LIMITS, Limits, Tree

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
    """A ZooKeeper beside a broker's server. `tree` has the nodes that it begins with; `directory`
    is where they are at its end, as a ZooKeeper's own. Raises OSError if it cannot listen."""

    def __init__(
        self,
        server: Server,
        host: str,
        port: int,
        limits: Limits = DEFAULT_LIMITS,
        *,
        tree: Tree | None = None,
        directory: Path | None = None,
    ) -> None:
        self._clock, self._directory = ClusterClock(server.cluster), directory
        keeper = Keeper(self._clock, server.cluster.random, limits)
        if tree is not None:
            keeper.tree.restore(tree.nodes, tree.zxid)
        super().__init__(keeper, host, port)
        self._is_gone = False
        self.registry = Registry(self.keeper, server.cluster)
        server.beside.append(self)

    async def close(self) -> None:
        """Raises OSError where the directory cannot be written."""
        await super().close()
        if self._directory is not None:
            save(self.keeper.tree, self._directory)

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
