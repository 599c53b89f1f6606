"""Records of share groups (KIP-932): where a group is in each partition, and who has which.

Two halves. The share coordinator keeps a group's state in `__share_group_state`: state.py has the
state of one partition, coordinators.py what that topic keeps and who leads it. The leader of a
topic's partition hands out its records: in_flight_batches.py and share_partition.py know who has
acquired what, acquired_records.py changes that, share_partition_manager.py has the share sessions
and all share partitions of one broker, delayed_share_fetch.py the fetches that wait. The names are
those of Kafka's classes (SharePartition, InFlightBatch, AcquiredRecords, ShareSessionCache, ...).

The members of share groups, their assignments and offsets: groups/share/.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..broker import ClusterState
    from .coordinators import ShareCoordinators
    from .share_partition_manager import SharePartitionManagers


def open_share(state: ClusterState) -> tuple[ShareCoordinators, SharePartitionManagers]:
    """The share coordinators of a cluster, loaded when they subscribe to the metadata, and what its
    brokers hand out to members of share groups: nothing yet."""
    from .coordinators import ShareCoordinators
    from .share_partition_manager import SharePartitionManagers

    coordinators = ShareCoordinators(state)
    return coordinators, SharePartitionManagers(state, coordinators)
