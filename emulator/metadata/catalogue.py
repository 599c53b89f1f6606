"""The catalogue: the topics of a cluster, and the verbs that change them.

Rules:
- A verb judges (topic_plans.py) and appends records to the metadata log; the change takes effect
  from there (subscribers/topics.py). There is no state in between, so a topic exists, with leaders,
  as soon as it is created (semantics I18).
- A topic is its id: deleting removes the logs, and what is created later under the same name has
  another id, other logs and no record of the old one.

Who leads and replicates a partition later on: replication/.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...wire.stored.cluster import RemoveTopicRecord
from ..config.internal_topics import internal_topic
from ..partitions.topic import Topic
from .topic_index import TopicIndex
from .topic_plans import NewPartitions, NewTopic, plan_configs, plan_partitions, plan_topic
from .topic_rules import DEFAULT, Assignments

if TYPE_CHECKING:
    from ..cluster import Cluster


class Catalogue(TopicIndex):
    """All topics of a cluster, by name and by id; iterated in the order of their names."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__()
        self._cluster = cluster

    def changed(self) -> None:
        super().changed()
        self._cluster.answers.changed()

    # Creating

    def create(
        self,
        name: str,
        *,
        partitions: int = DEFAULT,
        replication_factor: int = DEFAULT,
        configs: Mapping[str, str | None] | None = None,
        assignments: Assignments | None = None,
    ) -> Topic:
        """Create a topic. Raises Refused as CreateTopics answers, or KAFKA_STORAGE_ERROR."""
        new = self.plan(
            name, partitions, replication_factor, configs=configs, assignments=assignments
        )
        return self.add_all([new])[0]

    def plan(
        self,
        name: str,
        partitions: int = DEFAULT,
        replication_factor: int = DEFAULT,
        *,
        configs: Mapping[str, str | None] | None = None,
        assignments: Assignments | None = None,
    ) -> NewTopic:
        """Judge a topic to be created, in Kafka's order, changing nothing. Raises Refused."""
        return plan_topic(
            *(name, partitions, replication_factor, configs or {}, assignments),
            topics=self,
            config=self._cluster.config,
            brokers=self._cluster.replication.registered(),
        )

    def add_all(self, plans: Sequence[NewTopic]) -> list[Topic]:
        """Create all of these or, Refused(KAFKA_STORAGE_ERROR) being raised, none of them."""
        self._cluster.metadata.append([record for new in plans for record in new.records()])
        return [self._by_id[new.id] for new in plans]

    def ensure_internal(self, name: str) -> Topic:
        """An internal topic, created with its own configs if it is not there.

        Raises Refused as `create` does: INVALID_REPLICATION_FACTOR if there are too few brokers.
        """
        topic = self.get(name)
        if topic is not None:
            return topic
        partitions, factor, configs = internal_topic(name, self._cluster.config)
        return self.create(name, partitions=partitions, replication_factor=factor, configs=configs)

    # Changing

    def plan_partitions(
        self, topic: Topic, total: int, assignments: Sequence[Sequence[int]] | None = None
    ) -> NewPartitions:
        """Judge whether a topic can grow to `total` partitions, changing nothing.

        Raises Refused as CreatePartitions answers.
        """
        brokers, config = self._cluster.replication.registered(), self._cluster.config
        return plan_partitions(topic, total, assignments, brokers=brokers, config=config)

    def add_partitions(
        self, topic: Topic, total: int, assignments: Sequence[Sequence[int]] | None = None
    ) -> None:
        """Grow a topic to `total` partitions. Raises Refused as CreatePartitions answers."""
        self._cluster.metadata.append(self.plan_partitions(topic, total, assignments).records())

    def set_configs(self, topic: Topic, configs: Mapping[str, str]) -> None:
        """Replace what a topic sets itself. Raises Refused(INVALID_CONFIG), changing nothing."""
        self._cluster.metadata.append(plan_configs(topic, configs, self._cluster.config))

    def delete(self, topic: Topic) -> None:
        """Delete a topic, its logs and what groups committed for it; wake who waits for it.

        Raises Refused(KAFKA_STORAGE_ERROR).
        """
        self._cluster.metadata.append([RemoveTopicRecord(topic_id=topic.id)])
