"""The group coordinator, for both protocols (classic and KIP-848): groups, offsets, their topic.

`Groups` is the coordinator of a cluster. Everything below it is synchronous and told the time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..cluster import Cluster
    from .store import Groups


def open_groups(cluster: Cluster) -> Groups:
    """The groups of a cluster, as its `__consumer_offsets` left them."""
    from .store import Groups

    return Groups(cluster)
