"""Guards: what each API asks of the authorizer, and what it answers where that says no."""

from . import (
    cluster_wide,
    configs,
    groups,
    offsets,
    records,
    share,
    streams,
    topics,
    transactions,
)
from .guard import Guard

__all__ = [
    "Guard",
    "cluster_wide",
    "configs",
    "groups",
    "offsets",
    "records",
    "share",
    "streams",
    "topics",
    "transactions",
]
