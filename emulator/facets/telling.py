"""What happened at the broker, as a test reads it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from .. import parameters
from ..base.event import Event
from ..base.journal import Journal
from ..cluster import Cluster
from .facet import Facet

if TYPE_CHECKING:
    from ..advice.advice import Advice


class Beside(Protocol):
    """Services that a test runs beside the broker."""

    def lines(self, begin: float) -> Iterable[Event]:
        """What they have written, in order; a journal has begun at this moment."""
        ...

    def end(self) -> None:
        """The broker is about to stop."""
        ...


class Telling(Facet):
    """Events and the timeline. They are there after the broker has stopped, too."""

    _journal: Journal
    _beside: Beside | None = None

    def _end_beside(self) -> None:
        if self._beside is not None:
            self._beside.end()

    @property
    def events(self) -> list[Event]:
        """What happened, in order: the last 10,000 events (`max_events`)."""
        if not self._is_running():
            found = self._journal.events()
        else:
            found = self.run(lambda cluster: cluster.journal.events())
        if self._beside is None:
            return found
        from heapq import merge

        beside = self._beside.lines(self._journal.begin)
        return list(merge(found, beside, key=lambda each: each.elapsed))

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
