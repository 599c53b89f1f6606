"""Partitions, as a view of brokers sees them: leaders, replicas, where they move."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ....wire.api.list_partition_reassignments import ListPartitionReassignmentsRequest
from ....wire.api.metadata import MetadataResponse
from .client import Brokers, ConsoleError, check

_NOBODY = -1

Place = tuple[str, int]
"""Topic and number."""


class Part(NamedTuple):
    """One partition, as Metadata has it, and where it moves."""

    topic: str
    found: MetadataResponse.Topic.Partition
    moves_to: tuple[int, ...] = ()

    @property
    def place(self) -> Place:
        """Topic and number."""
        return self.topic, self.found.partition_index

    @property
    def is_offline(self) -> bool:
        """Whether nobody leads it."""
        return self.found.leader_id == _NOBODY

    @property
    def is_under_replicated(self) -> bool:
        """Whether a replica is not in sync."""
        return len(self.found.isr_nodes) < len(self.found.replica_nodes)

    @property
    def state(self) -> str:
        """What is wrong with it, or going on."""
        words = ["offline"] * self.is_offline
        words += ["under-replicated"] * (self.is_under_replicated and not self.is_offline)
        words += [f"moves to {ids(self.moves_to)}"] * bool(self.moves_to)
        return ", ".join(words)


def parts(brokers: Brokers) -> list[Part]:
    """All partitions."""
    going_on = moves(brokers)
    return [
        Part(topic.name or "", each, going_on.get((topic.name or "", each.partition_index), ()))
        for topic in brokers.topics()
        for each in sorted(topic.partitions, key=lambda each: each.partition_index)
    ]


def named(brokers: Brokers, given: Iterable[tuple[str, int | None]]) -> list[Part]:
    """The partitions that were named. Raises ConsoleError for what is not there."""
    every = parts(brokers)
    found = []
    for title, index in given:
        of_topic = [each for each in every if each.topic == title]
        if not of_topic:
            brokers.topic(title)  # which says so, with the likely one
        if index is not None and index >= len(of_topic):
            raise ConsoleError(
                f"topic {title} has partitions 0 to {len(of_topic) - 1}, not {index}"
            )
        found += of_topic if index is None else [of_topic[index]]
    return found


def moves(brokers: Brokers) -> dict[Place, tuple[int, ...]]:
    """The partitions that move, and to which brokers."""
    if not brokers.serves(ListPartitionReassignmentsRequest):  # it is of before 2.4
        return {}
    answer = brokers.ask(ListPartitionReassignmentsRequest(topics=None))
    check(answer.error_code, "the moves that go on", answer.error_message)
    return {
        (topic.name, each.partition_index): tuple(
            node for node in each.replicas if node not in each.removing_replicas
        )
        for topic in answer.topics
        for each in topic.partitions
    }


def name(place: Place) -> str:
    """A partition, as it is called in a sentence."""
    return f"{place[0]}-{place[1]}"


def ids(ids: Iterable[int]) -> str:
    """Ids of brokers, in their order."""
    return ",".join(map(str, ids)) or "nobody"
