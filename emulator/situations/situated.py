"""Situated: the part of an Emulator's face that has its situations."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .. import seen
from ..facets.facet import Facet

if TYPE_CHECKING:
    from ..control.rules.rules import Rules
    from ..facets.disk import Disk
    from ..facets.facet import Facet, Thread
    from ..facets.network import Network
    from ..facets.when import When
    from .situations import Situations


class Situated(Facet):
    """What goes wrong in production, each one verb."""

    # What of Emulator is used here.
    _started: Callable[[], Thread]
    _rules: Rules
    _network: Network
    _disk_faults: Disk
    on: Callable[..., When]
    topic: Callable[[str], seen.TopicView]
    topics: Callable[[], list[str]]
    group: Callable[[str], seen.GroupView]
    share_group: Callable[[str], seen.ShareGroupView]
    streams_group: Callable[[str], seen.StreamsGroupView]
    transactions: Callable[[], list[seen.SeenTransaction]]
    delete_topic: Callable[[str], None]
    recreate_topic: Callable[..., seen.TopicView]

    @property
    def situations(self) -> Situations:
        """What goes wrong in production, each one verb:
        `kafka.situations.lost_acknowledgement("orders")`."""
        from .situations import Situations

        return Situations(self)
