"""Records of share groups (KIP-932): where a group is in each partition, and who has which.

Two halves. The share coordinator keeps a group's state in `__share_group_state`: state.py has the
state of one partition, coordinators.py what that topic keeps and who leads it. The leader of a
topic's partition hands out its records: in_flight.py and share_partition.py know who has acquired
what, acquiring.py changes that, leading.py has the share sessions and all partitions of one broker,
fetching.py the fetches that wait.

The members of share groups, their assignments and offsets: groups/share/.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..cluster_state import ClusterState
    from .coordinators import ShareCoordinators
    from .leading import ShareLeaders


def open_share(state: ClusterState) -> tuple[ShareCoordinators, ShareLeaders]:
    """The share coordinators of a cluster, loaded when they subscribe to the metadata, and what its
    brokers hand out to members of share groups: nothing yet."""
    from .coordinators import ShareCoordinators
    from .leading import ShareLeaders

    coordinators = ShareCoordinators(state)
    return coordinators, ShareLeaders(state, coordinators)
