"""The topology of an application, as its members send it and as record 23 keeps it (KIP-1071)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from ....wire.api.streams_group_heartbeat import StreamsGroupHeartbeatRequest
from ....wire.errors import Error, Refused
from ....wire.stored.streams_groups import StreamsGroupTopologyValue as TopologyValue
from ...base.java_order import hash_map_order

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
        """The topics that must be there: sources, repartition topics and changelogs."""
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
    """What a member sent, as record 23 keeps it."""
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
