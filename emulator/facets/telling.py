"""What happened at the broker, as a test reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import parameters
from ..base.event import Event
from ..base.journal import Journal
from ..cluster import Cluster
from .facet import Facet

if TYPE_CHECKING:
    from ..advice.advice import Advice


class Telling(Facet):
    """Events and the timeline. They are there after the broker has stopped, too."""

    _journal: Journal

    @property
    def events(self) -> list[Event]:
        """What happened, in order: the last 10,000 events (`max_events`)."""
        if not self._is_running():
            return self._journal.events()
        return self.run(lambda cluster: cluster.journal.events())

    def timeline(self, topic: str | None = None, group: str | None = None) -> str:
        """What happened in sentences, a line each; only what concerns a topic or a group if one is
        given. Times are real seconds since the broker was first started. Below it are hints at
        defects of stock clients that a test seems to have met. Raises TypeError."""
        if topic is not None:
            parameters.topic_name(topic, "topic")
        if group is not None:
            parameters.group_id(group, "group")
        wanted = [
            each
            for each in self.events
            if (topic is None and group is None) or each.concerns(topic, group)
        ]
        from ..advice.known import hints

        return "\n".join([*map(str, wanted), *(f"hint: {each}" for each in hints(wanted))])

    @property
    def advice(self) -> list[Advice]:
        """What clients did that is likely a mistake, each once, with the config that helps."""
        from ..advice.advise import advise

        if not self._is_running():
            return advise(self._journal.events())

        def found(cluster: Cluster) -> list[Advice]:
            return advise(cluster.journal.events(), cluster)

        return self.run(found)
