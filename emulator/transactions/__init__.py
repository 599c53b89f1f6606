"""The transaction coordinators: transactional ids, their producers and their transactions.

transaction.py has the states of a transactional id, and the steps from one to the next.
coordinator.py has the rules for which step a request may take, and takes it: it is written first,
and applies then. admission.py admits batches and offsets to transactions and writes the markers
that end them, and store.py connects all of that with `__transaction_state` and a cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..broker import ClusterState
    from ..groups.coordinators import Groups
    from .coordinators import Transactions


def open_transactions(state: ClusterState, groups: Groups) -> Transactions:
    """The transactions of a cluster, loaded from its `__transaction_state`; those whose end was
    decided are completed."""
    from .coordinators import Transactions

    return Transactions(state, groups)
