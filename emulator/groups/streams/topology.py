"""The topology of an application, as its members send it and as record 23 keeps it (KIP-1071), and
the topics there are: how many tasks it has, what is missing, and what members are to know of that.

- Every source topic must be there, or nothing is worked out (status 1).
- Numbers of partitions that do not fit are status 2; numbers that cannot be worked out make the
  topology invalid (130).
- Internal topics that are missing are status 3. One that is there must have the number of
  partitions that follows from the topics it is made of (status 2).
- A subtopology has as many tasks as the largest of the topics it reads has partitions.

How many partitions internal topics are to have:
- A repartition topic has the number that the application gives it, else the largest number of the
  topics that the subtopology which writes it reads.
- Topics that are joined must have the same number: repartition topics take that of the topics of
  users in their group, or else the largest.
- A changelog has the largest number of the topics that its subtopology reads.

Numbers are worked out again and again until all are known, in the order of a broker's hash maps,
which decides where they depend on each other. Source: Kafka 4.3.1 (RepartitionTopics,
CopartitionedTopicsEnforcer, ChangelogTopics).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import IntEnum
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

from ....wire.api.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)
from ....wire.errors import Error, Refused
from ....wire.stored.streams_groups import StreamsGroupTopologyValue as TopologyValue
from ...base.java_order import hash_map_order
from ..topics_view import TopicsView


class StatusCode(IntEnum):
    """The status of the application in the answer to a heartbeat, by its number."""

    STALE_TOPOLOGY = 0
    MISSING_SOURCE_TOPICS = 1
    INCORRECTLY_PARTITIONED_TOPICS = 2
    MISSING_INTERNAL_TOPICS = 3
    SHUTDOWN_APPLICATION = 4
    ASSIGNMENT_DELAYED = 5


Status: TypeAlias = StreamsGroupHeartbeatResponse.Status
"""Something that a member is to know of its application."""
Subtopology = TopologyValue.Subtopology


class Topology:
    """The subtopologies of an application. Raises Refused(UNKNOWN_SERVER_ERROR) for a negative
    epoch and for two subtopologies of one id."""

    def __init__(self, value: TopologyValue) -> None:
        by_id = {each.subtopology_id: each for each in value.subtopologies}
        if value.epoch < 0 or len(by_id) < len(value.subtopologies):
            raise Refused(Error.UNKNOWN_SERVER_ERROR)
        self.epoch: int = value.epoch
        self.by_id: dict[str, Subtopology] = {each: by_id[each] for each in hash_map_order(by_id)}
        """In the order of a Java HashMap."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Topology):
            return NotImplemented
        return self.epoch == other.epoch and self.by_id == other.by_id

    __hash__ = None  # type: ignore[assignment]

    @property
    def subtopologies(self) -> Sequence[Subtopology]:
        """All of them, in the order of a Java HashMap."""
        return [*self.by_id.values()]

    @cached_property
    def required_topics(self) -> Sequence[str]:
        names = [
            name
            for each in self.subtopologies
            for name in (
                *source_topics(each),
                *(topic.name for topic in each.state_changelog_topics),
            )
        ]
        return hash_map_order(names)

    @cached_property
    def readers(self) -> dict[str, str]:
        """The subtopology that reads a topic, by the topic's name."""
        return {
            name: each.subtopology_id for each in self.subtopologies for name in source_topics(each)
        }


def source_topics(subtopology: Subtopology) -> list[str]:
    """The topics that a subtopology reads: its sources, then its repartition topics."""
    repartition = [topic.name for topic in subtopology.repartition_source_topics]
    return [*subtopology.source_topics, *repartition]


def topology_value(sent: StreamsGroupHeartbeatRequest.Topology) -> TopologyValue:
    """A member's topology, as record 23 keeps it."""
    return TopologyValue(
        epoch=sent.epoch,
        subtopologies=[
            Subtopology(
                subtopology_id=each.subtopology_id,
                source_topics=each.source_topics,
                source_topic_regex=each.source_topic_regex,
                state_changelog_topics=_topics(each.state_changelog_topics),
                repartition_sink_topics=each.repartition_sink_topics,
                repartition_source_topics=_topics(each.repartition_source_topics),
                copartition_groups=[
                    Subtopology.CopartitionGroup(
                        source_topics=group.source_topics,
                        source_topic_regex=group.source_topic_regex,
                        repartition_source_topics=group.repartition_source_topics,
                    )
                    for group in each.copartition_groups
                ],
            )
            for each in sent.subtopologies
        ],
    )


def _topics(sent: Sequence[Any]) -> list[TopologyValue.TopicInfo]:
    info = TopologyValue.TopicInfo
    return [
        info(
            name=topic.name,
            partitions=topic.partitions,
            replication_factor=topic.replication_factor,
            topic_configs=[
                info.TopicConfig(key=each.key, value=each.value) for each in topic.topic_configs
            ],
        )
        for topic in sent
    ]


Counts = Mapping[str, int]
"""Numbers of partitions, by topic."""
_UNKNOWN = "Failed to compute number of partitions for all repartition topics"


class NotReady(Exception):
    """The topics do not fit the topology: nothing is assigned until they do."""

    def __init__(self, code: StatusCode, detail: str) -> None:
        super().__init__(detail)
        self.status = Status(status_code=code, status_detail=detail)


def partition_counts(
    topology: Topology, together: Mapping[str, Sequence[Collection[str]]], existing: Counts
) -> dict[str, int]:
    """The numbers of partitions of all internal topics. `together`: by subtopology, the groups of
    topics that are joined; `existing`: the numbers of topics that are there. Raises NotReady, and
    Refused: STREAMS_INVALID_TOPOLOGY with a message, UNKNOWN_SERVER_ERROR."""
    decided = _of_repartition_topics(topology, existing)
    internal = [t for each in topology.subtopologies for t in each.repartition_source_topics]
    fixed = hash_map_order([topic.name for topic in internal if topic.partitions])
    flexible = {topic.name for topic in internal if not topic.partitions}
    for groups in together.values():
        for names in filter(None, groups):
            decided |= _of_joined(names, fixed, flexible, {**decided, **existing})
    return decided | _of_changelogs(topology, {**decided, **existing})


def _of_repartition_topics(topology: Topology, existing: Counts) -> dict[str, int]:
    internal = [t for each in topology.subtopologies for t in each.repartition_source_topics]
    counts = {topic.name: topic.partitions for topic in internal if topic.partitions}
    is_complete = False
    while not is_complete:
        is_complete, progresses = True, False
        for each in topology.subtopologies:
            for sink in each.repartition_sink_topics:
                if sink in counts:
                    continue
                found = _largest(each, counts, existing)
                if found is None:
                    is_complete = False
                else:
                    counts[sink], progresses = found, True
        if not is_complete and not progresses:
            raise _invalid(
                f"{_UNKNOWN}. There may be loops in the topology that cannot be resolved."
            )
    if not all(topic.name in counts for topic in internal):
        raise _invalid(
            f"{_UNKNOWN}, because a repartition source topic is never used as a sink topic."
        )
    return counts


def _largest(subtopology: Subtopology, counts: Counts, existing: Counts) -> int | None:
    """Of the topics that a subtopology reads, as far as their numbers are known yet."""
    repartition = (topic.name for topic in subtopology.repartition_source_topics)
    known = [counts[name] for name in repartition if name in counts]
    known += [existing[name] for name in subtopology.source_topics if name in existing]
    return max(known, default=None)


def _of_joined(
    names: Collection[str], fixed: Sequence[str], flexible: Collection[str], counts: Counts
) -> dict[str, int]:
    if not all(name in counts for name in names):
        raise Refused(Error.UNKNOWN_SERVER_ERROR)
    ordered = hash_map_order(names)
    repartition = [name for name in ordered if name in fixed or name in flexible]
    users = [name for name in ordered if name not in repartition]
    if users:
        count = _same(users, users, counts)
    elif fixed:
        count = _same(fixed, repartition, counts)
    else:
        count = max((counts[name] for name in repartition), default=0)
    for name in repartition:
        if name in fixed and counts[name] != count:
            text = (
                f"Number of partitions [{counts[name]}] of repartition topic [{name}] doesn't match"
                f" number of partitions [{count}] of the source topic."
            )
            raise NotReady(StatusCode.INCORRECTLY_PARTITIONED_TOPICS, text)
    return dict.fromkeys(repartition, count)


def _same(names: Sequence[str], named: Sequence[str], counts: Counts) -> int:
    """The number that all these topics have; `named`: the names in the message where they
    differ."""
    if not all(name in counts for name in names):
        raise Refused(Error.UNKNOWN_SERVER_ERROR)
    if len({counts[name] for name in names}) > 1:
        listed = ", ".join(f"{name}={counts[name]}" for name in sorted(named))
        text = f"Following topics do not have the same number of partitions: [{{{listed}}}]"
        raise NotReady(StatusCode.INCORRECTLY_PARTITIONED_TOPICS, text)
    return counts[names[0]]


def _of_changelogs(topology: Topology, counts: Counts) -> dict[str, int]:
    found: dict[str, int] = {}
    for each in topology.subtopologies:
        read = source_topics(each)
        if not read:
            raise _invalid(f"No source topics found for subtopology {each.subtopology_id}")
        if not all(name in counts for name in read):
            raise Refused(Error.UNKNOWN_SERVER_ERROR)
        largest = max(counts[name] for name in read)
        found |= {topic.name: largest for topic in each.state_changelog_topics}
    return found


def _invalid(message: str) -> Refused:
    return Refused(Error.STREAMS_INVALID_TOPOLOGY, message)


_MOST_NAMED = 3


class InternalTopic(NamedTuple):
    """A repartition topic or a changelog. Replication factor 0 is the broker's default."""

    name: str
    partitions: int
    replication_factor: int
    configs: Mapping[str, str]


class ConfiguredSubtopology(NamedTuple):
    tasks: int
    """Its number of tasks."""
    source_topics: Sequence[str]
    repartition_sources: Mapping[str, InternalTopic]
    repartition_sinks: Sequence[str]
    changelogs: Mapping[str, InternalTopic]


class Configured(NamedTuple):
    """A topology against the topics."""

    topology_epoch: int
    subtopologies: Mapping[str, ConfiguredSubtopology] | None
    """By id, sorted; None where they could not be worked out."""
    missing: Mapping[str, InternalTopic]
    """The internal topics that are to be created, by name."""
    problem: Status | None = None

    @property
    def is_ready(self) -> bool:
        return self.problem is None


def configure(topology: Topology, topics: TopicsView) -> Configured:
    """A topology against the topics. Raises Refused: STREAMS_INVALID_TOPOLOGY with a message,
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
        problem = Status(status_code=StatusCode.MISSING_INTERNAL_TOPICS, status_detail=text)
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
