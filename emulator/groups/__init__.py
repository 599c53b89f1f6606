"""The group coordinator: groups of every type, their offsets, and `__consumer_offsets`.

`Groups` (store.py) is the coordinator of a cluster, on its topic; coordinator.py says which parts
it has. All types of group share runtime.py (shards, writing, the timer), records.py (encoding),
group.py (what is asked of any group) and topics_view.py. offsets/ keeps what is committed;
classic/ and consumer/ (KIP-848) each hold one type of group: its records, its calls, its state.
Everything is synchronous and takes the time as an argument.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..cluster import Cluster
    from .store import Groups


def open_groups(cluster: Cluster) -> Groups:
    """The groups of a cluster, restored from its `__consumer_offsets`."""
    from .store import Groups

    return Groups(cluster)
