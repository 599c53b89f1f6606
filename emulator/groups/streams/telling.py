"""How members of a streams group go, and why it rebalances, as events tell it."""

from __future__ import annotations

from ..consumer.telling import Departure
from .group import Due

OVERDUE = {
    Due.SESSION: Departure("session timed out", "no heartbeat within its session timeout"),
    Due.REBALANCE: Departure("kicked", "it did not give up its tasks in time"),
}
CHANGE = "a member, its topics, or its standbys changed"
