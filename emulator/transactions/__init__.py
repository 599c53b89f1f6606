"""The transaction coordinators: transactional ids, their producers and their transactions.

states.py has the states, transaction.py the steps from one state of a transactional id to the next,
beginning.py and ending.py the rules for which step a request may take. coordinator.py takes a step:
it is written first, and applies then. admission.py admits batches and offsets to transactions,
markers.py writes the markers that end them, and store.py connects all of that with
`__transaction_state` and a cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..cluster import Cluster
    from .store import Transactions


def open_transactions(cluster: Cluster) -> Transactions:
    """The transactions of a cluster, loaded from its `__transaction_state`; those whose end was
    decided are completed."""
    from .store import Transactions

    return Transactions(cluster)
