"""The group coordinator: groups of every type, their offsets, and `__consumer_offsets`.

coordinators.py has one coordinator for each broker; coordinator.py puts its parts together with the
topic that it writes to and is restored from. All types of group share
runtime.py (shards, writing, the timer), records.py (encoding), group.py (what is asked of any
group) and topics_view.py. offsets/ keeps what is committed; classic/, consumer/ (KIP-848), share/
(KIP-932) and streams/ (KIP-1071) each hold one type of group: its records, its calls, its state.
What the last three have in common is in modern/.
Everything is synchronous and takes the time as an argument.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..broker import ClusterState
    from ..share.coordinators import ShareCoordinators
    from .coordinators import Groups


def open_groups(state: ClusterState, share_states: ShareCoordinators) -> Groups:
    """The groups of a cluster, which are restored when it subscribes to the metadata."""
    from .coordinators import Groups

    return Groups(state, share_states)
