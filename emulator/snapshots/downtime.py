"""A broker's process that ends, and comes back: on the same sockets and thread, with what the disk
has left.

- `kill`: whatever was written is kept, as the operating system keeps it when a process dies.
- A power cut: what was not synced is lost or torn. On a disk in memory that is storage's model of
  it; of a directory the logs know how far they were synced (storage/torn_tails.py). The metadata
  log is synced first, as Kafka does before it answers.
- What the closing of the old cluster would still write is thrown away.
- What is a test's and not the broker's goes on: steps of the chain, waits, held clocks.

One cluster in the place of another, on the same sockets.

Clients that are cut find their connections closed, as when a broker is killed. Those that are kept
do not notice but by the answers: what waits at the old cluster is answered as a broker that has
restarted would have it asked again.

- JoinGroup and SyncGroup: NOT_COORDINATOR, so members look for their coordinator, and go on.
- Fetch: nothing, and no session, so clients fetch again and begin a session anew.
- What else is in progress, for instance a Produce that waits for the disk: the connection is
  closed.

An answer that is being sent is sent to its end. Requests that were received and not begun are
served by the new cluster.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from shutil import copytree
from typing import TYPE_CHECKING

from ...storage import LogDirectoryError, MemoryDisk
from ...storage.naming import CLUSTER_METADATA
from ...wire import Refused
from ...wire.api.fetch import FetchRequest, FetchResponse
from ..base.logger import log
from ..replication.quorum import ControllerGate

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..net.server import Server
    from .images import FolderImage


DOWN = "the broker is down, as by kafka.kill(): call kafka.restart()"


def check_up(server: Server) -> None:
    """Raises RuntimeError if the broker is down."""
    if server.is_down:
        raise RuntimeError(DOWN)


@dataclass(frozen=True)
class PowerCut:
    """A power cut, and what it leaves: without a seed what was synced and nothing else."""

    seed: int | None

    def random(self) -> Random | None:
        return None if self.seed is None else Random(self.seed)


def kill(server: Server, disk: MemoryDisk | None, cut: PowerCut | None) -> None:
    """End the broker as `kill -9`, or as a power cut. Raises OSError if the disk fails."""
    from ...storage.torn_tails import lose_tails, recovery_points

    cluster = server.cluster
    server.go_down()
    if cut is not None:
        with suppress(Refused):  # the disk fails: then that is lost too
            cluster.log_dir.logs[CLUSTER_METADATA, 0].flush()
    if disk is None:
        points = recovery_points(cluster.log_dir)
        cluster.close(is_last=True)
        if cut is not None:
            suffix = cluster.log_dir.naming.log_suffix
            lose_tails(Path(cluster.log_dir.path), points, suffix, cut.random())
    else:
        left = disk.kill() if cut is None else disk.crash(cut.random())
        cluster.close(is_last=True)
        disk.be(left)


_ALL = 1 << 62


class Wreck:
    """A broker that ends in the middle of whatever it does, in its thread: what the disk has at
    that moment is what it has when it comes back. `finish` is called when nothing of it goes on.

    Raises OSError if the disk cannot be read.
    """

    def __init__(self, server: Server, disk: MemoryDisk | None, cut: PowerCut | None) -> None:
        from ...storage.torn_tails import recovery_points
        from .images import FolderImage

        self._server = server
        self._disk = disk
        self._cut = cut
        cluster = server.cluster
        metadata = cluster.log_dir.naming.directory(CLUSTER_METADATA, 0)
        self._points = {**recovery_points(cluster.log_dir), metadata: _ALL}
        self._left: MemoryDisk | FolderImage
        if disk is not None:
            disk.sync(metadata)
            self._left = disk.kill() if cut is None else disk.crash(cut.random())
        else:
            self._left = FolderImage()
            copytree(cluster.log_dir.path, self._left.folder(), dirs_exist_ok=True)
        server.go_down()

    def finish(self) -> None:
        """Throw away what was done since. Raises OSError."""
        from ...storage.torn_tails import lose_tails
        from .images import place_in

        cluster, left = self._server.cluster, self._left
        cluster.close(is_last=True)
        if isinstance(left, MemoryDisk):
            assert self._disk is not None
            self._disk.be(left)
            return
        path = Path(cluster.log_dir.path)
        try:
            place_in(left, path, is_temporary=True)
        finally:
            left.close()
        if self._cut is not None:
            lose_tails(path, self._points, cluster.log_dir.naming.log_suffix, self._cut.random())


def stop(server: Server, disk: MemoryDisk | None) -> None:
    """Stop it cleanly. That syncs everything, as Kafka does then."""
    server.go_down()
    close_cleanly(server.cluster)
    if disk is not None:
        disk.sync()


def close_cleanly(cluster: Cluster, *, is_last: bool = False) -> None:
    """Close a cluster. What could not be written is logged: the next start checks more."""
    try:
        cluster.close(is_last=is_last)
    except LogDirectoryError as error:  # a full disk, say
        log.error("%s", error)


def start_again(server: Server, make: Callable[[Cluster], Cluster]) -> None:
    """Serve the cluster that `make` returns, given the one that has ended. Raises what it raises;
    the broker stays down then."""
    old = server.cluster
    new = make(old)
    new.chain.take_over(step for step in old.chain if not isinstance(step, ControllerGate))
    new.watchers = old.watchers
    new.keep_holds(old)
    server.come_back(new)
    new.settle()


def exchange(server: Server, make: Callable[[Cluster], Cluster], *, keeps_clients: bool) -> None:
    """Close the server's cluster, without writing what will be thrown away, and serve the one that
    `make` returns then, given the closed one. Raises what it raises; then there is none to serve.
    """
    old = server.cluster
    if not keeps_clients:
        server.cut()
    old.close(is_last=True)
    new = make(old)
    new.watchers = old.watchers
    new.keep_holds(old)
    server.move_to(new)
    if keeps_clients:
        _answer_parked(server, old)


def _answer_parked(server: Server, old: Cluster) -> None:
    for node_id in old.nodes:
        old.groups.at(node_id).shut_down()
    for protocol in list(server.protocols):
        call = protocol.connection.current
        if call is not None:
            if call.api_key == FetchRequest.api_key:
                call.answer(FetchResponse(responses=[]))
            else:
                protocol.connection.close()
        protocol.go_on()
