"""The catalogue: which topics there are, their partitions and configs. Kept in the metadata log.

Rules:
- A change is written to the metadata log first, then it is in force; there is no state in between,
  so a topic is there, with leaders, as soon as it is created (semantics I18).
- A topic is its id: deleting removes the logs, and what is created later under the same name has
  another id, other logs and no record of the old one.
- Opening a log costs no directory before the first append, so many empty topics are cheap.
- A restart gives every partition its leader anew, under a later leader epoch
  (restart_elections.py). All brokers here share the data, so every replica that is alive is in
  sync.
- `generation` rises with every change that an answer might show.

Not emulated: Kafka's random placement of replicas (see topic_rules.py). Who leads and replicates
a partition later on: leadership.py.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...wire import Error, Refused, random_id
from ...wire.stored.cluster import MetadataRecord, RemoveTopicRecord
from ..base.logger import log
from ..config.configs import ConfigError, TopicConfig
from ..config.internal_topics import METADATA_TOPIC, internal_topic
from ..partitions.partition import Partition
from ..partitions.topic import Topic
from .image import BROKER_RESOURCE, TOPIC_RESOURCE, MetadataImage, PartitionImage
from .log import MetadataLog, metadata_log_config
from .restart_elections import resign, take_over
from .topic_records import (
    NO_LEADER,
    config_records,
    new_partition,
    partition_records,
    topic_records,
)
from .topic_rules import DEFAULT, Assignments, added, assigned, check_name, folded, placed

if TYPE_CHECKING:
    from ..cluster import Cluster


def null_configs(names: Iterable[str]) -> Refused:
    """What is said of configs without a value, in the order in which they were given."""
    message = f"Null value not supported for topic configs: {','.join(names)}"
    return Refused(Error.INVALID_CONFIG, message)


class NewTopic(NamedTuple):
    """A topic that passed every check and may be created."""

    name: str
    id: bytes
    config: TopicConfig
    replicas: list[list[int]]

    def records(self) -> list[MetadataRecord]:
        """What the metadata log notes of it."""
        return topic_records(self.name, self.id, self.config.overrides, self.replicas)


class Catalogue:
    """All topics of a cluster, by name and by id; iterated in the order of their names."""

    def __init__(self, cluster: Cluster) -> None:
        """Read what the metadata log says. Raises LogDirectoryError, Refused, OSError."""
        self.generation = 0
        self.resource_configs: dict[tuple[int, str], dict[str, str]] = {}
        """Configs of groups and metrics subscriptions: resource type and name, to texts."""
        self._cluster = cluster
        self._by_name: dict[str, Topic] = {}
        self._by_id: dict[bytes, Topic] = {}
        self._names: list[str] = []
        self._folded: dict[str, list[str]] = {}
        self.metadata_log, image = MetadataLog.open(
            cluster.log_dir,
            cluster.clock,
            config=metadata_log_config(cluster.config),
            features=cluster.asked_features,
            release=cluster.release,
        )
        self._restore(image)

    # Looking

    def get(self, name: str) -> Topic | None:
        """The topic of that name."""
        return self._by_name.get(name)

    def by_id(self, topic_id: bytes) -> Topic | None:
        """The topic with that id (16 bytes)."""
        return self._by_id.get(topic_id)

    def __len__(self) -> int:
        return len(self._by_name)

    def __iter__(self) -> Iterator[Topic]:
        return (self._by_name[name] for name in list(self._names))

    def changed(self) -> None:
        """Something that answers show of topics has changed: a leader, a broker, a config."""
        self.generation += 1

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
        return self.add(
            self.plan(
                name, partitions, replication_factor, configs=configs, assignments=assignments
            )
        )

    def plan(
        self,
        name: str,
        partitions: int = DEFAULT,
        replication_factor: int = DEFAULT,
        *,
        configs: Mapping[str, str | None] | None = None,
        assignments: Assignments | None = None,
    ) -> NewTopic:
        """Check a topic to be created, in Kafka's order, changing nothing. Raises Refused."""
        self.check_new_name(name)
        config = self._config(configs or {})
        if assignments:
            replicas = assigned(assignments, partitions, replication_factor, self._alive())
        else:
            replicas = placed(partitions, replication_factor, self._alive(), self._cluster.config)
        return NewTopic(name, random_id(), config, replicas)

    def check_new_name(self, name: str) -> None:
        """Whether a topic may be created under a name. Raises Refused."""
        if name == METADATA_TOPIC:
            message = f"Creation of internal topic {name} is prohibited."
            raise Refused(Error.INVALID_REQUEST, message)
        check_name(name)
        if name in self._by_name:
            raise Refused(Error.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
        if colliding := self._folded.get(folded(name)):
            message = f"Topic '{name}' collides with existing topic: {', '.join(colliding)}"
            raise Refused(Error.INVALID_TOPIC_EXCEPTION, message)

    def add(self, new: NewTopic) -> Topic:
        """Create what `plan` has checked. Raises Refused(KAFKA_STORAGE_ERROR)."""
        return self.add_all([new])[0]

    def add_all(self, plans: Sequence[NewTopic]) -> list[Topic]:
        """Create all of these or, Refused(KAFKA_STORAGE_ERROR) being raised, none of them."""
        self.metadata_log.append([record for new in plans for record in new.records()])
        topics = []
        for new in plans:
            topic = Topic(new.name, new.id, new.config)
            self._open_partitions(topic, [new_partition(replicas) for replicas in new.replicas])
            self._enter(topic)
            topics.append(topic)
        return topics

    def ensure_internal(self, name: str) -> Topic:
        """An internal topic, created with its own configs if it is not there.

        Raises Refused as `create` does: INVALID_REPLICATION_FACTOR if there are too few brokers.
        """
        topic = self._by_name.get(name)
        if topic is not None:
            return topic
        partitions, factor, configs = internal_topic(name, self._cluster.config)
        return self.create(name, partitions=partitions, replication_factor=factor, configs=configs)

    # Changing

    def plan_partitions(
        self, topic: Topic, total: int, assignments: Sequence[Sequence[int]] | None = None
    ) -> list[list[int]]:
        """Check that a topic can grow, changing nothing; return the new partitions' replicas.

        Raises Refused as CreatePartitions answers.
        """
        factor = len(topic.partitions[0].replicas)
        existing = len(topic.partitions)
        return added(topic.name, existing, total, factor, assignments, self._alive())

    def add_partitions(
        self, topic: Topic, total: int, assignments: Sequence[Sequence[int]] | None = None
    ) -> None:
        """Grow a topic to `total` partitions. Raises Refused as CreatePartitions answers."""
        replicas = self.plan_partitions(topic, total, assignments)
        self.metadata_log.append(partition_records(topic.id, len(topic.partitions), replicas))
        self._open_partitions(topic, [new_partition(each) for each in replicas])
        self.changed()

    def set_configs(self, topic: Topic, configs: Mapping[str, str]) -> None:
        """Replace what a topic sets itself. Raises Refused(INVALID_CONFIG), changing nothing."""
        config = self._config(configs)
        self.metadata_log.append(
            config_records(TOPIC_RESOURCE, topic.name, topic.config.overrides, config.overrides)
        )
        self._reconfigure(topic, config)
        self.changed()

    def set_broker_configs(self, resource: str, configs: Mapping[str, str]) -> None:
        """Replace what is set at run time for a broker (its id as text) or for all ("").

        Raises ConfigError, changing nothing.
        """
        config = self._cluster.config
        before = config.dynamic.get(resource, {})
        config.set_dynamic(resource, configs)
        self.metadata_log.append(config_records(BROKER_RESOURCE, resource, before, configs))
        for topic in self:
            self._reconfigure(topic, config.topic(topic.config.overrides))
        self.changed()

    def set_resource_configs(self, kind: int, name: str, configs: Mapping[str, str]) -> None:
        """Replace what a group or a metrics subscription sets (its resource type, its name)."""
        before = self.resource_configs.pop((kind, name), {})
        self.metadata_log.append(config_records(kind, name, before, configs))
        if configs:
            self.resource_configs[kind, name] = dict(configs)

    def delete(self, topic: Topic) -> None:
        """Delete a topic, its logs and what groups committed for it; wake who waits for it.

        The directories are renamed at once and removed later (LogManager). A log that cannot be
        renamed is left behind, and named in a warning.
        """
        self.metadata_log.append([RemoveTopicRecord(topic_id=topic.id)])
        topic.is_deleted = True
        del self._by_name[topic.name], self._by_id[topic.id]
        del self._names[bisect_left(self._names, topic.name)]
        self._folded[folded(topic.name)].remove(topic.name)
        self.changed()
        log_dir, left = self._cluster.log_dir, []
        for partition in topic.partitions:
            partition.close_waiters()
            try:
                left.append(log_dir.delete_log(topic.name, partition.index, later=True))
            except Refused as error:
                log.warning("%r of a deleted topic is left behind: %s", partition, error)
        self._cluster.log_manager.remove_later([name for name in left if name is not None])
        self._cluster.groups.topic_deleted(topic.name)
        self._cluster.transactions.topic_deleted(topic.name)

    def resign(self) -> bool:
        """Note that nobody leads any more: a clean stop. Return whether anything was written."""
        return resign(self.metadata_log)

    # Within

    def _restore(self, image: MetadataImage) -> None:
        """Make what the metadata log describes, and give leaders to partitions without one."""
        for (resource, name), texts in image.configs.items():
            if resource == BROKER_RESOURCE:
                self._restore_broker_configs(name, texts)
            elif resource != TOPIC_RESOURCE:
                self.resource_configs[resource, name] = dict(texts)
        take_over(self.metadata_log, self._alive(), self._cluster.release)
        for found in image.topics.values():
            texts = image.configs.get((TOPIC_RESOURCE, found.name), {})
            topic = Topic(found.name, found.topic_id, self._restored_config(found.name, texts))
            self._open_partitions(topic, [found.partitions[i] for i in sorted(found.partitions)])
            self._enter(topic)

    def _restore_broker_configs(self, name: str, texts: Mapping[str, str]) -> None:
        try:
            self._cluster.config.set_dynamic(name, texts)
        except ConfigError as error:
            log.warning("the stored configs of broker %r are not used: %s", name, error)

    def _restored_config(self, name: str, texts: Mapping[str, str]) -> TopicConfig:
        """Stored configs, those left out that are not known here: the data counts for more."""
        known = dict(texts)
        while True:
            try:
                return self._cluster.config.topic(known)
            except ConfigError as error:
                log.warning("topic %s: a stored config is not used: %s", name, error)
                del known[error.name]

    def _alive(self) -> list[int]:
        return [node_id for node_id, broker in self._cluster.brokers.items() if broker.is_alive]

    def _config(self, configs: Mapping[str, str | None]) -> TopicConfig:
        texts = {name: text for name, text in configs.items() if text is not None}
        if len(texts) < len(configs):
            raise null_configs(name for name, text in configs.items() if text is None)
        try:
            config = self._cluster.config.topic(texts)
            if texts:
                config.check()
        except ConfigError as error:
            raise Refused(Error.INVALID_CONFIG, str(error)) from None
        return config

    def _open_partitions(self, topic: Topic, images: Sequence[PartitionImage]) -> None:
        open_log, now = self._cluster.log_dir.open_log, self._cluster.clock.now()
        config = topic.config.log_config()
        for index, image in enumerate(images, len(topic.partitions)):
            stored = open_log(topic.name, index, topic.id, config, now)
            stored.on_unflushed = self._cluster.log_manager.flusher.appended
            if image.leader != NO_LEADER:
                stored.start_epoch(image.leader_epoch)
            partition = Partition(
                *(topic, index, stored),
                leader=image.leader,
                leader_epoch=image.leader_epoch,
                replicas=list(image.replicas),
                isr=list(image.isr),
            )
            topic.partitions.append(partition)

    def _enter(self, topic: Topic) -> None:
        self._by_name[topic.name] = topic
        self._by_id[topic.id] = topic
        insort(self._names, topic.name)
        self._folded.setdefault(folded(topic.name), []).append(topic.name)
        self.changed()

    def _reconfigure(self, topic: Topic, config: TopicConfig) -> None:
        topic.config = config
        for partition in topic.partitions:
            partition.log.config = config.log_config()
