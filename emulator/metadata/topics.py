"""Which topics there are: by name, by id, and in the order of their names.

`generation` rises with every change that an answer might show.

The records of a change of topics, and which replica is elected.

Kafka's order: a topic, its configs, its partitions. The metadata log fills in the directories of
replicas. Source: KIP-631, KIP-858, KIP-966.

Changes of topics are judged in Kafka's order, and become the records to be written.

Nothing is changed here; what cannot be is refused as CreateTopics, CreatePartitions or AlterConfigs
answer it. Not emulated: that Kafka shuffles brokers when it places replicas
(topic_rules.py).

The catalogue: the topics of a cluster, and the verbs that change them.

Rules:
- A verb judges and appends records to the metadata log; the change takes effect
  from there (subscribers/topics.py). There is no state in between, so a topic exists, with leaders,
  as soon as it is created (semantics I18).
- A topic is its id: deleting removes the logs, and what is created later under the same name has
  another id, other logs and no record of the old one.

Who leads and replicates a partition later on: replication/.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...wire import Error, Refused, random_id
from ...wire.stored.cluster import (
    ConfigRecord,
    MetadataRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from ..base.node import Registered
from ..config.configs import BrokerConfig, ConfigError, TopicConfig
from ..config.internal_topics import METADATA_TOPIC, internal_topic
from ..partitions.partition import NO_LEADER, Partition, Topic
from .image import TOPIC_RESOURCE, PartitionImage
from .topic_rules import DEFAULT, Assignments, added, assigned, check_name, folded, placed

if TYPE_CHECKING:
    from ..environment import Environment
    from .log import MetadataLog


class TopicIndex:
    """All topics of a cluster; iterated in the order of their names."""

    def __init__(self) -> None:
        self.generation = 0
        self._by_name: dict[str, Topic] = {}
        self._by_id: dict[bytes, Topic] = {}
        self._names: list[str] = []
        self._folded: dict[str, list[str]] = {}

    def get(self, name: str) -> Topic | None:
        return self._by_name.get(name)

    def by_id(self, topic_id: bytes) -> Topic | None:
        """The topic with that id (16 bytes)."""
        return self._by_id.get(topic_id)

    def colliding(self, name: str) -> Sequence[str]:
        """Names of topics that would have the same names in metrics as this one."""
        return self._folded.get(folded(name), ())

    def __len__(self) -> int:
        return len(self._by_name)

    def __iter__(self) -> Iterator[Topic]:
        return (self._by_name[name] for name in list(self._names))

    # Changes, made by subscribers/topics.py

    def changed(self) -> None:
        """Something that answers show of topics has changed: a leader, a broker, a config."""
        self.generation += 1

    def enter(self, topic: Topic) -> None:
        self._by_name[topic.name] = topic
        self._by_id[topic.id] = topic
        insort(self._names, topic.name)
        self._folded.setdefault(folded(topic.name), []).append(topic.name)

    def leave(self, topic_id: bytes) -> Topic:
        """Remove a topic, and return it. Raises KeyError."""
        topic = self._by_id.pop(topic_id)
        del self._by_name[topic.name]
        del self._names[bisect_left(self._names, topic.name)]
        key = folded(topic.name)
        alike = self._folded[key]
        alike.remove(topic.name)
        if not alike:
            del self._folded[key]
        return topic


def topic_records(
    name: str,
    topic_id: bytes,
    configs: Mapping[str, str],
    replicas: Sequence[list[int]],
    able: Collection[int],
) -> list[MetadataRecord]:
    return [
        TopicRecord(name=name, topic_id=topic_id),
        *config_records(TOPIC_RESOURCE, name, {}, configs),
        *partition_records(topic_id, 0, replicas, able),
    ]


def partition_records(
    topic_id: bytes, first: int, replicas: Sequence[list[int]], able: Collection[int]
) -> list[MetadataRecord]:
    """New partitions of a topic, numbered from `first` on. Of the replicas of each, those that are
    able to are in sync, and the first of them leads."""
    in_sync = [[replica for replica in each if replica in able] for each in replicas]
    return [
        PartitionRecord(
            partition_id=index,
            topic_id=topic_id,
            replicas=each,
            isr=isr,
            removing_replicas=[],
            adding_replicas=[],
            leader=isr[0] if isr else NO_LEADER,
            leader_epoch=0,
            partition_epoch=0,
        )
        for index, (each, isr) in enumerate(zip(replicas, in_sync, strict=True), first)
    ]


def config_records(
    resource_type: int, name: str, before: Mapping[str, str], after: Mapping[str, str]
) -> list[MetadataRecord]:
    changes: dict[str, str | None] = {key: None for key in before if key not in after}
    changes.update((key, text) for key, text in after.items() if before.get(key) != text)
    return [
        ConfigRecord(resource_type=resource_type, resource_name=name, name=key, value=text)
        for key, text in changes.items()
    ]


def election(
    topic_id: bytes, index: int, partition: PartitionImage, alive: Collection[int]
) -> PartitionChangeRecord | None:
    """The change that gives a partition a leader that is alive, or none if it can have none; None
    if nothing changes. Every replica that is alive is in sync: all of them share one log. Those
    that come back are listed by their ids. Who led it last does again, if that is known. Where all
    that may lead are gone, nobody does.
    """
    if partition.leader in alive:
        return None
    replicas = [replica for replica in partition.replicas if replica in alive]
    fit = {*partition.isr, *partition.eligible_leaders}
    able = [replica for replica in replicas if replica in fit]
    if not (able if fit else replicas):
        if partition.leader == NO_LEADER:
            return None
        return PartitionChangeRecord(partition_id=index, topic_id=topic_id, leader=NO_LEADER)
    last = [replica for replica in partition.last_eligible_leaders if replica in able]
    change = PartitionChangeRecord(
        partition_id=index, topic_id=topic_id, leader=(last or able or replicas)[0]
    )
    if partition.isr != sorted(replicas):
        change.isr = sorted(replicas)
    if partition.has_eligible_leaders:
        change.eligible_leader_replicas = []
        change.last_known_elr = []
    return change


class NewTopic(NamedTuple):
    """A topic that passed every check and may be created."""

    name: str
    id: bytes
    config: TopicConfig
    replicas: list[list[int]]
    able: Collection[int]
    """The brokers that may lead."""

    def records(self) -> list[MetadataRecord]:
        texts = self.config.overrides
        return topic_records(self.name, self.id, texts, self.replicas, self.able)


class NewPartitions(NamedTuple):
    """Partitions that passed every check and may be added to a topic."""

    topic: Topic
    replicas: list[list[int]]
    able: Collection[int]

    def records(self) -> list[MetadataRecord]:
        first = len(self.topic.partitions)
        return partition_records(self.topic.id, first, self.replicas, self.able)


def plan_topic(
    name: str,
    partitions: int,
    replication_factor: int,
    configs: Mapping[str, str | None],
    assignments: Assignments | None,
    *,
    topics: TopicIndex,
    config: BrokerConfig,
    brokers: Registered,
) -> NewTopic:
    """Judge a topic to be created. Raises Refused."""
    check_new_name(name, topics)
    own = judged(configs, config)
    if assignments:
        replicas = assigned(assignments, partitions, replication_factor, brokers)
    else:
        replicas = placed(partitions, replication_factor, brokers, config)
    return NewTopic(name, random_id(), own, replicas, brokers.active)


def check_new_name(name: str, topics: TopicIndex) -> None:
    """Whether a topic may be created under a name. Raises Refused."""
    if name == METADATA_TOPIC:
        message = f"Creation of internal topic {name} is prohibited."
        raise Refused(Error.INVALID_REQUEST, message)
    check_name(name)
    if topics.get(name) is not None:
        raise Refused(Error.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
    if colliding := topics.colliding(name):
        message = f"Topic '{name}' collides with existing topic: {', '.join(colliding)}"
        raise Refused(Error.INVALID_TOPIC_EXCEPTION, message)


def plan_partitions(
    topic: Topic,
    total: int,
    assignments: Sequence[Sequence[int]] | None,
    *,
    brokers: Registered,
    config: BrokerConfig,
) -> NewPartitions:
    """Judge whether a topic can grow to `total` partitions. Raises Refused."""
    factor = len(topic.partitions[0].replicas)
    existing = len(topic.partitions)
    replicas = added(topic.name, existing, total, factor, assignments, brokers, config)
    return NewPartitions(topic, replicas, brokers.active)


def plan_configs(
    topic: Topic, configs: Mapping[str, str | None], config: BrokerConfig
) -> list[MetadataRecord]:
    """Judge configs that are to replace those of a topic. Raises Refused(INVALID_CONFIG)."""
    after = judged(configs, config).overrides
    return config_records(TOPIC_RESOURCE, topic.name, topic.config.overrides, after)


def judged(configs: Mapping[str, str | None], config: BrokerConfig) -> TopicConfig:
    """The configs of a topic that sets these. Raises Refused(INVALID_CONFIG)."""
    texts = {name: text for name, text in configs.items() if text is not None}
    if len(texts) < len(configs):
        raise null_configs(name for name, text in configs.items() if text is None)
    try:
        found = config.topic(texts)
        if texts:
            found.check()
    except ConfigError as error:
        raise Refused(Error.INVALID_CONFIG, str(error)) from None
    return found


def null_configs(names: Iterable[str]) -> Refused:
    """The refusal of configs without a value, in the order in which they were given."""
    message = f"Null value not supported for topic configs: {','.join(names)}"
    return Refused(Error.INVALID_CONFIG, message)


class Catalogue(TopicIndex):
    """All topics of a cluster, by name and by id; iterated in the order of their names."""

    def __init__(
        self,
        environment: Environment,
        metadata: MetadataLog,
        registered: Callable[[], Registered],
        noticed: Callable[[], None],
    ) -> None:
        super().__init__()
        self._environment, self._metadata = environment, metadata
        self._registered, self._noticed = registered, noticed

    def changed(self) -> None:
        super().changed()
        self._noticed()

    def named(self, name: str) -> Topic:
        """A topic by its name. Raises Refused(UNKNOWN_TOPIC_OR_PARTITION)."""
        topic = self.get(name)
        if topic is None:
            raise Refused(Error.UNKNOWN_TOPIC_OR_PARTITION)
        return topic

    def partition(self, name: str, index: int) -> Partition:
        """A partition by topic and index. Raises Refused(UNKNOWN_TOPIC_OR_PARTITION)."""
        topic = self.get(name)
        if topic is None or not 0 <= index < len(topic.partitions):
            raise Refused(Error.UNKNOWN_TOPIC_OR_PARTITION)
        return topic.partitions[index]

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
            config=self._environment.config,
            brokers=self._registered(),
        )

    def add_all(self, plans: Sequence[NewTopic]) -> list[Topic]:
        """Create all of these or, Refused(KAFKA_STORAGE_ERROR) being raised, none of them."""
        self._metadata.append([record for new in plans for record in new.records()])
        return [self._by_id[new.id] for new in plans]

    def ensure_internal(self, name: str) -> Topic:
        """An internal topic, created with its own configs if it is not there.

        Raises Refused as `create` does: INVALID_REPLICATION_FACTOR if there are too few brokers.
        """
        topic = self.get(name)
        if topic is not None:
            return topic
        partitions, factor, configs = internal_topic(name, self._environment.config)
        return self.create(name, partitions=partitions, replication_factor=factor, configs=configs)

    # Changing

    def plan_partitions(
        self, topic: Topic, total: int, assignments: Sequence[Sequence[int]] | None = None
    ) -> NewPartitions:
        """Judge whether a topic can grow to `total` partitions, changing nothing.

        Raises Refused as CreatePartitions answers.
        """
        brokers, config = self._registered(), self._environment.config
        return plan_partitions(topic, total, assignments, brokers=brokers, config=config)

    def add_partitions(
        self, topic: Topic, total: int, assignments: Sequence[Sequence[int]] | None = None
    ) -> None:
        """Grow a topic to `total` partitions. Raises Refused as CreatePartitions answers."""
        self._metadata.append(self.plan_partitions(topic, total, assignments).records())

    def set_configs(self, topic: Topic, configs: Mapping[str, str]) -> None:
        """Replace what a topic sets itself. Raises Refused(INVALID_CONFIG), changing nothing."""
        self._metadata.append(plan_configs(topic, configs, self._environment.config))

    def delete(self, topic: Topic) -> None:
        """Delete a topic, its logs and what groups committed for it; wake who waits for it.

        Raises Refused(KAFKA_STORAGE_ERROR).
        """
        self._metadata.append([RemoveTopicRecord(topic_id=topic.id)])
