"""A topology and the topics there are: how many tasks it has, and what is missing (KIP-1071).

- Every source topic must be there, or nothing is worked out (status 1).
- Numbers of partitions that do not fit are status 2; numbers that cannot be worked out make the
  topology invalid (130).
- Internal topics that are missing (status 3) have the numbers of partitions that follow from the
  topics they are made of (partition_counts.py). One that is there must have that number (status 2).
- A subtopology has as many tasks as the largest of the topics it reads has partitions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from ....wire.errors import Error, Refused
from ....wire.stored.streams_groups import StreamsGroupTopologyValue as TopologyValue
from ...base.java_order import hash_map_order
from ..topics_view import TopicsView
from .partition_counts import Counts, NotReady, partition_counts
from .states import Status, StatusCode
from .topology import Subtopology, Topology, source_topics

_MOST_NAMED = 3


class InternalTopic(NamedTuple):
    """A repartition topic or a changelog. Replication factor 0 is the broker's default."""

    name: str
    partitions: int
    replication_factor: int
    configs: Mapping[str, str]


class ConfiguredSubtopology(NamedTuple):
    """A subtopology, its internal topics by name."""

    tasks: int
    """Its number of tasks."""
    source_topics: Sequence[str]
    repartition_sources: Mapping[str, InternalTopic]
    repartition_sinks: Sequence[str]
    changelogs: Mapping[str, InternalTopic]


class Configured(NamedTuple):
    """What the topics make of a topology."""

    topology_epoch: int
    subtopologies: Mapping[str, ConfiguredSubtopology] | None
    """By id, sorted; None where they could not be worked out."""
    missing: Mapping[str, InternalTopic]
    """The internal topics that are to be created, by name."""
    problem: Status | None = None

    @property
    def is_ready(self) -> bool:
        """Whether tasks can be assigned."""
        return self.problem is None


def configure(topology: Topology, topics: TopicsView) -> Configured:
    """What the topics make of a topology. Raises Refused: STREAMS_INVALID_TOPOLOGY with a message,
    UNKNOWN_SERVER_ERROR for what a real broker fails on."""
    together = {each.subtopology_id: copartitioned(each) for each in topology.subtopologies}
    existing = _counts(topics, topology.required_topics)
    try:
        _check_sources(topology, existing)
        decided = partition_counts(topology, together, existing)
        subtopologies = {
            name: _configured(topology.by_id[name], decided, existing)
            for name in sorted(topology.by_id)
        }
        missing = _missing(topology, subtopologies, existing)
    except NotReady as not_ready:
        return Configured(topology.epoch, None, {}, not_ready.status)
    problem = None
    if missing:
        text = f"Internal topics are missing: {_summary(missing)}"
        problem = Status(StatusCode.MISSING_INTERNAL_TOPICS, text)
    return Configured(topology.epoch, subtopologies, missing, problem)


def copartitioned(subtopology: Subtopology) -> list[frozenset[str]]:
    """The topics of a subtopology that must have the same number of partitions, group by group.
    Raises Refused(UNKNOWN_SERVER_ERROR) for an index without a topic."""
    sources = subtopology.source_topics
    repartition = [topic.name for topic in subtopology.repartition_source_topics]
    return [
        frozenset(
            [_at(sources, index) for index in group.source_topics]
            + [_at(repartition, index) for index in group.repartition_source_topics]
        )
        for group in subtopology.copartition_groups
    ]


def _at(names: Sequence[str], index: int) -> str:
    if not 0 <= index < len(names):
        raise Refused(Error.UNKNOWN_SERVER_ERROR)
    return names[index]


def _counts(topics: TopicsView, names: Iterable[str]) -> Counts:
    found = (topics.catalogue.get(name) for name in names)
    return {topic.name: len(topic.partitions) for topic in found if topic is not None}


def _check_sources(topology: Topology, existing: Counts) -> None:
    wanted = {name for each in topology.subtopologies for name in each.source_topics}
    missing = sorted(wanted.difference(existing))
    if missing:
        text = f"Source topics {_summary(missing)} are missing."
        raise NotReady(StatusCode.MISSING_SOURCE_TOPICS, text)


def _configured(
    subtopology: Subtopology, decided: Counts, existing: Counts
) -> ConfiguredSubtopology:
    counts = {**decided, **existing}
    read = source_topics(subtopology)
    if not all(name in counts for name in read):
        raise Refused(Error.UNKNOWN_SERVER_ERROR)
    return ConfiguredSubtopology(
        max(counts[name] for name in read),
        subtopology.source_topics,
        _internal(subtopology.repartition_source_topics, decided),
        subtopology.repartition_sink_topics,
        _internal(subtopology.state_changelog_topics, decided),
    )


def _internal(
    topics: Collection[TopologyValue.TopicInfo], decided: Counts
) -> dict[str, InternalTopic]:
    found = {}
    for topic in topics:
        partitions = topic.partitions or decided[topic.name]
        configs = {each.key: each.value for each in topic.topic_configs}
        if partitions < 1 or topic.name in found or len(configs) < len(topic.topic_configs):
            raise Refused(Error.UNKNOWN_SERVER_ERROR)
        found[topic.name] = InternalTopic(
            *(topic.name, partitions, topic.replication_factor),
            {key: configs[key] for key in hash_map_order(configs)},
        )
    return {name: found[name] for name in hash_map_order(found)}


def _missing(
    topology: Topology, subtopologies: Mapping[str, ConfiguredSubtopology], existing: Counts
) -> dict[str, InternalTopic]:
    wanted: dict[str, InternalTopic] = {}
    for each in subtopologies.values():
        wanted |= each.repartition_sources
        wanted |= each.changelogs
    for name in topology.required_topics:
        if name in existing and name in wanted and existing[name] != wanted[name].partitions:
            text = (
                f"Existing topic {name} has different number of partitions: expected"
                f" {wanted[name].partitions}, found {existing[name]}"
            )
            raise NotReady(StatusCode.INCORRECTLY_PARTITIONED_TOPICS, text)
    absent = [name for name in wanted if name not in existing]
    beside = len(wanted) - len(absent)
    return {name: wanted[name] for name in hash_map_order(absent, beside=beside)}


def _summary(names: Iterable[str]) -> str:
    listed = [*names]
    more = len(listed) - _MOST_NAMED
    text = ", ".join(listed[:_MOST_NAMED])
    return f"{text} and {more} additional topics" if more > 0 else text
