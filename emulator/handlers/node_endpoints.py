"""Where brokers are that an answer names as leaders (KIP-951), for clients that know others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from ..cluster import Cluster

E = TypeVar("E")


def endpoints(endpoint: Callable[..., E], cluster: Cluster, node_ids: Iterable[int]) -> list[E]:
    """An `endpoint` of each of these brokers that there is, by their ids."""
    return [
        endpoint(node_id=node.node_id, host=node.host, port=node.port, rack=node.rack)
        for node in map(cluster.nodes.get, sorted(node_ids))
        if node is not None
    ]
