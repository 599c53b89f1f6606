"""The transaction coordinator: transactional ids, their producers and their transactions.

states.py names the states, transaction.py takes one transactional id from step to step,
beginning.py and ending.py say which step a request may take, coordinator.py takes it: written
first, then in force. admission.py lets batches and offsets into transactions, markers.py writes
what ends them, and store.py connects all of that with `__transaction_state` and a cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..cluster import Cluster
    from .store import Transactions


def open_transactions(cluster: Cluster) -> Transactions:
    """The transactions of a cluster, as its `__transaction_state` left them; those whose end was
    decided are brought to it."""
    from .store import Transactions

    return Transactions(cluster)
