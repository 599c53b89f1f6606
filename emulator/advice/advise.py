"""All rules, asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..base.event import Event
from .advice import Advice
from .rules import RULES
from .seen import Seen

if TYPE_CHECKING:
    from ..cluster import Cluster


def advise(events: Sequence[Event], cluster: Cluster | None = None) -> list[Advice]:
    """The advice that follows from these events, and from the cluster as it is now."""
    seen = Seen(events, cluster)
    found = [advice for rule in RULES for advice in rule(seen)]
    return list(dict.fromkeys(found))
