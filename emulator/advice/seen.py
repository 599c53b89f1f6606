"""What the rules look at: events, and what there is of records at the end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..base.call import TEST
from ..base.event import Event
from ..base.sentences import IN_A_TRANSACTION

if TYPE_CHECKING:
    from ..cluster import Cluster

Place = tuple[str, int]
"""A partition: topic and index."""
_NUMBER = re.compile(r"#\d+$")


@dataclass(frozen=True)
class Commits:
    """What one client has committed of one partition in a group, outside of transactions."""

    client: str
    group: str
    place: Place
    events: list[Event]

    @property
    def count(self) -> int:
        """How many there were."""
        return sum(each.count for each in self.events)

    @property
    def first(self) -> int:
        """The lowest offset."""
        return min(min(each.first_offset, each.last_offset) for each in self.events)

    @property
    def last(self) -> int:
        """The highest offset."""
        return max(max(each.first_offset, each.last_offset) for each in self.events)

    @property
    def seconds(self) -> float:
        """From the first to the last one."""
        return self.events[-1].until - self.events[0].elapsed


class Seen:
    """What happened, and what is there at the end, if the broker runs."""

    def __init__(self, events: Sequence[Event], cluster: Cluster | None) -> None:
        self.events = events
        self.cluster = cluster
        self.commits = self._commits()

    def of(self, *kinds: str) -> Iterator[Event]:
        """The events of these kinds, in order, but for what a test did itself."""
        return (each for each in self.events if each.kind in kinds and each.client != TEST)

    def at(self, place: Place, *kinds: str) -> Iterator[Event]:
        """The same, of one partition."""
        return (each for each in self.of(*kinds) if (each.topic, each.partition) == place)

    def after(self, event: Event, *kinds: str) -> Iterator[Event]:
        """The same, of those after an event."""
        is_after = False
        for each in self.events:
            if is_after and each.kind in kinds and each.client != TEST:
                yield each
            is_after = is_after or each is event

    def fetches(self, client: str, place: Place) -> list[Event]:
        """Those of a client in which it got records: all its members have one name there."""
        name = client_of(client)
        return [each for each in self.at(place, "fetched") if each.client == name]

    def start(self, place: Place, otherwise: int) -> int:
        """The offset at which a partition begins; 0 without a broker."""
        if self.cluster is None:
            return 0
        topic = self.cluster.topics.get(place[0])
        if topic is None or place[1] >= len(topic.partitions):
            return otherwise
        return topic.partitions[place[1]].log_start_offset

    def in_transactions(self) -> set[Place]:
        """The partitions that are written in transactions: where an offset may be no record."""
        return {
            (each.topic, each.partition)
            for each in self.events
            if each.kind == "appended" and each.reason == IN_A_TRANSACTION
        }

    def _commits(self) -> list[Commits]:
        found: dict[tuple[str, str, Place], list[Event]] = {}
        for each in self.of("committed"):
            if not each.transactional_id:
                key = each.client, each.group, (each.topic, each.partition)
                found.setdefault(key, []).append(each)
        return [Commits(*key, events) for key, events in found.items()]


def client_of(member: str) -> str:
    """The name of a member's client: that of the second one is "app#2"."""
    return _NUMBER.sub("", member)
