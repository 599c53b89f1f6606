"""Situated: the part of an Emulator's face that has its situations."""

from __future__ import annotations

from collections.abc import Callable

from ..control.rules import Rules
from ..facets.disk import Disk
from ..facets.facet import Facet
from ..facets.network import Network
from ..facets.when import When
from ..seen import GroupView, SeenTransaction, TopicView
from .situations import Situations


class Situated(Facet):
    """What goes wrong in production, each one verb."""

    # What of Emulator is used here.
    _rules: Rules
    _network: Network
    _disk_faults: Disk
    on: Callable[..., When]
    topic: Callable[[str], TopicView]
    group: Callable[[str], GroupView]
    transactions: Callable[[], list[SeenTransaction]]
    recreate_topic: Callable[..., TopicView]

    @property
    def situations(self) -> Situations:
        """What goes wrong in production, each one verb:
        `kafka.situations.lost_acknowledgement("orders")`."""
        return Situations(self)
