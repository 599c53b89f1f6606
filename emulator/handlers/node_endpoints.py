"""Where brokers are that an answer names as leaders (KIP-951), for clients that know others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

from ..base.call import Call

if TYPE_CHECKING:
    from ..cluster import Cluster

E = TypeVar("E")


def endpoints(
    endpoint: Callable[..., E], cluster: Cluster, call: Call, node_ids: Iterable[int]
) -> list[E]:
    """An `endpoint` of each of these brokers that there is, by their ids, with the addresses of the
    listener that was asked."""
    nodes = [node for node in map(cluster.nodes.get, sorted(node_ids)) if node is not None]
    places = [(node, *node.at(call.listener)) for node in nodes]
    return [
        endpoint(node_id=node.node_id, host=host, port=port, rack=node.rack)
        for node, host, port in places
    ]
