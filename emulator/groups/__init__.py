"""The group coordinator: groups of every type, their offsets, and `__consumer_offsets`.

coordinator.py puts the coordinator's parts together; offsets_topic.py is the topic that it writes
to and is restored from. All types of group share runtime.py (shards, writing, the timer),
records.py (encoding), group.py (what is asked of any group) and topics_view.py. offsets/ keeps what
is committed; classic/ and consumer/ (KIP-848) each hold one type of group: its records, its calls,
its state. Everything is synchronous and takes the time as an argument.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..cluster import Cluster
    from .coordinator import Coordinator


def open_groups(cluster: Cluster) -> Coordinator:
    """The groups of a cluster, restored from its `__consumer_offsets`."""
    from .offsets_topic import coordinator_of

    return coordinator_of(cluster)
