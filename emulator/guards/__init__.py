"""Guards: what each API asks of the authorizer, and what it answers where that says no.

table.py has the APIs with plain needs; the modules beside it those that are more than that.
"""

from . import (
    cluster_wide,
    configs,
    groups,
    records,
    share,
    table,
    topics,
    transactions,
)
from .guard import Guard

__all__ = [
    "Guard",
    "cluster_wide",
    "configs",
    "groups",
    "records",
    "share",
    "table",
    "topics",
    "transactions",
]
