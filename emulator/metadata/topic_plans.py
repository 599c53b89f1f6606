"""Changes of topics are judged in Kafka's order, and become the records to be written.

Nothing is changed here; what cannot be is refused as CreateTopics, CreatePartitions or AlterConfigs
answer it. Not emulated: that Kafka shuffles brokers when it places replicas
(placement.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from ...wire import Error, Refused, random_id
from ...wire.stored.cluster import MetadataRecord
from ..base.node import Registered
from ..config.configs import BrokerConfig, ConfigError, TopicConfig
from ..config.internal_topics import METADATA_TOPIC
from ..partitions.topic import Topic
from .image import TOPIC_RESOURCE
from .topic_index import TopicIndex
from .topic_records import config_records, partition_records, topic_records
from .topic_rules import Assignments, added, assigned, check_name, placed


class NewTopic(NamedTuple):
    """A topic that passed every check and may be created."""

    name: str
    id: bytes
    config: TopicConfig
    replicas: list[list[int]]
    able: Collection[int]
    """The brokers that may lead."""

    def records(self) -> list[MetadataRecord]:
        """What is written to the metadata log."""
        texts = self.config.overrides
        return topic_records(self.name, self.id, texts, self.replicas, self.able)


class NewPartitions(NamedTuple):
    """Partitions that passed every check and may be added to a topic."""

    topic: Topic
    replicas: list[list[int]]
    able: Collection[int]

    def records(self) -> list[MetadataRecord]:
        """What is written to the metadata log."""
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
