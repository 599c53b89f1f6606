"""One cluster in the place of another, on the same sockets.

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
from typing import TYPE_CHECKING

from ...wire.api.fetch import FetchRequest, FetchResponse

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..net.server import Server


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
