"""A controlled shutdown: what a broker that is stopped goes through, phase by phase.

    its leaders move   others lead, and coordinate, what it did; Metadata still lists it
    it answers         Produce and Fetch NOT_LEADER_OR_FOLLOWER, groups and transactions
                       NOT_COORDINATOR; a follower's reads, forwarded requests and new connections
                       as before
    it is fenced       Metadata does not list it any more, and it ends: connections close, new ones
                       are refused

A real broker answers until its next heartbeats have told that the others know of their leaders, for
two seconds mostly. Here it is long enough for a client to meet, in real time, and nothing at all
where no client is connected that could. Source: three nodes of 4.3.1 (semantics O24), KIP-500.
"""

from __future__ import annotations

from concurrent.futures import Future
from typing import TYPE_CHECKING

from ...wire import Refused

if TYPE_CHECKING:
    from ..cluster import Cluster

ANSWERS_MS = 100
"""So long it answers without its leaders, unless `timing` says otherwise."""


def stop(cluster: Cluster, node_id: int) -> Future[None]:
    """Begin to stop a broker: what is returned is done when it has ended, or has the error for
    which it is not fenced. Raises Refused, RuntimeError (`Replication.begin_stop`)."""
    replication = cluster.replication
    replication.begin_stop(node_id)
    gone: Future[None] = Future()

    def end() -> None:
        if gone.done():
            return
        try:
            replication.end_stop(node_id)
        except Refused as refused:
            gone.set_exception(refused)
        else:
            gone.set_result(None)

    if replication.has_clients is not None and replication.has_clients(node_id):
        cluster.asked.add(gone)  # which says so if all brokers go down meanwhile
        gone.add_done_callback(cluster.asked.discard)
        timing = cluster.timing
        cluster.after(ANSWERS_MS if timing is None else timing.stop_ms(), end)
    else:
        end()
    return gone
