"""A log directory that a broker with ZooKeeper has written: its topics, in the metadata log.

Such a directory has the logs, and ZooKeeper had the rest. Where that is at hand (`Registries`), it
counts: topics that it does not know go from the metadata log, unless they were created without it.
Else this is assumed:

- A topic has as many partitions as the highest number of a directory says, all of them here, led by
  this broker, in the last epoch of the leader epochs that are stored.
- Internal topics have their own configs. A topic that the cleaner has a checkpoint of is compacted.
  No other config is known, nor are quotas, credentials and access rules.
- Producer ids go on after those in the snapshots of producers.

What is known already stays as it is, so it may be done at every start. A release with KRaft that
could migrate from ZooKeeper (3.4 to 3.9) makes the directory one of KRaft afterwards.

Left out: delegation tokens, and features. Source: directories of 0.10.2, 0.11.0, 1.1 and 2.7;
KIP-866.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from ...storage import LogDirectory
from ...storage.naming import CLUSTER_METADATA, SNAPSHOT
from ...storage.producers import ProducerStates, SnapshotError
from ...storage.stored_epochs import latest_stored_epoch
from ...wire import random_id
from ...wire.stored.cluster import (
    MetadataRecord,
    ProducerIdsRecord,
    RemoveTopicRecord,
    TopicRecord,
    ZkMigrationStateRecord,
)
from ..config.configs import BrokerConfig
from ..config.internal_topics import INTERNAL_TOPICS, internal_topic
from .features import METADATA_VERSION
from .image import TOPIC_RESOURCE, MetadataImage, PartitionImage
from .log import PRODUCER_IDS_PER_BLOCK, MetadataLog
from .snapshot import MIGRATION_SINCE, partition_record
from .topics import config_records

_MIGRATED = 3
"""ZooKeeper is not needed any more (POST_MIGRATION)."""


@dataclass
class OldTopic:
    partitions: dict[int, PartitionImage]
    configs: Mapping[str, str] = field(default_factory=dict)
    topic_id: bytes | None = None


class Registries(Protocol):
    """What a ZooKeeper has kept for brokers."""

    @property
    def cluster_id(self) -> str | None:
        """None before 0.10.1."""

    def records(self, image: MetadataImage, log_dir: LogDirectory) -> list[MetadataRecord]:
        """The changes that make the image what it says."""

    @property
    def next_producer_id(self) -> int:
        """Above all that were handed out."""


def adopt(
    log_dir: LogDirectory,
    metadata: MetadataLog,
    config: BrokerConfig,
    registries: Registries | None = None,
) -> None:
    """Enter what such a directory has into its metadata log. Raises LogDirectoryError if it is of
    another cluster than the registries, Refused (KAFKA_STORAGE_ERROR), OSError."""
    image = metadata.image
    if registries is None:
        records = topic_changes(image, _unknown_topics(log_dir, image, config))
        next_id = _next_producer_id(log_dir)
    else:
        if registries.cluster_id is not None:
            log_dir.name_cluster(registries.cluster_id)
        records, next_id = registries.records(image, log_dir), registries.next_producer_id
    node_id = log_dir.properties.node_id
    if next_id > image.next_producer_id:
        records.append(ProducerIdsRecord(broker_id=node_id, next_producer_id=next_id))
    has_kraft = config.release.has_kraft
    if has_kraft and image.features.get(METADATA_VERSION, 0) >= MIGRATION_SINCE:
        records.append(ZkMigrationStateRecord(zk_migration_state=_MIGRATED))
    metadata.append(records)
    if has_kraft:
        log_dir.leave_zookeeper()


def topic_changes(
    image: MetadataImage, topics: Mapping[str, OldTopic], gone: Collection[str] = ()
) -> list[MetadataRecord]:
    """The records that enter topics which are not known as they are here, and take out others."""
    known = {topic.name: topic for topic in image.topics.values()}
    records: list[MetadataRecord] = []
    for name, topic in known.items():
        new = topics.get(name)
        is_other = new is not None and new.topic_id not in (None, topic.topic_id)
        if is_other or name in gone:
            records.append(RemoveTopicRecord(topic_id=topic.topic_id))
    removed = {each.topic_id for each in records if isinstance(each, RemoveTopicRecord)}
    for name, new in sorted(topics.items()):
        there = known.get(name)
        there = None if there is None or there.topic_id in removed else there
        topic_id = new.topic_id or random_id() if there is None else there.topic_id
        before = {} if there is None else image.configs_of(TOPIC_RESOURCE, name)
        if there is None:
            records.append(TopicRecord(name=name, topic_id=topic_id))
        records += config_records(TOPIC_RESOURCE, name, before, new.configs)
        for index, partition in sorted(new.partitions.items()):
            if there is None or partition != _comparable(there.partitions.get(index)):
                records.append(partition_record(topic_id, index, partition))
    return records


def _comparable(partition: PartitionImage | None) -> PartitionImage | None:
    """A partition without what ZooKeeper does not know."""
    if partition is None:
        return None
    return PartitionImage(
        *(partition.replicas, partition.isr, partition.leader, partition.leader_epoch, 0),
        adding=partition.adding,
        removing=partition.removing,
    )


def _unknown_topics(
    log_dir: LogDirectory, image: MetadataImage, config: BrokerConfig
) -> dict[str, OldTopic]:
    """The topics that have directories of partitions which the image does not know."""
    found: dict[str, dict[int, bytes | None]] = {}
    for (name, index), topic_id in log_dir.partitions.items():
        if name != CLUSTER_METADATA:
            found.setdefault(name, {})[index] = topic_id
    known = {topic.name: topic for topic in image.topics.values()}
    compacted = {name for name, _ in log_dir.cleaned_offsets}
    topics: dict[str, OldTopic] = {}
    for name, ids in found.items():
        there = known.get(name)
        numbers = set(range(max(ids) + 1)) - (there.partitions.keys() if there else set())
        if not numbers:
            continue
        partitions = {index: _led_here(log_dir, name, index) for index in numbers}
        if there is not None:
            configs = image.configs_of(TOPIC_RESOURCE, name)
            topics[name] = OldTopic(partitions, configs, there.topic_id)
            continue
        configs = {"cleanup.policy": "compact"} if name in compacted else {}
        if name in INTERNAL_TOPICS:
            configs = internal_topic(name, config).configs
        topics[name] = OldTopic(partitions, configs, next(filter(None, ids.values()), None))
    return topics


def _led_here(log_dir: LogDirectory, name: str, index: int) -> PartitionImage:
    node_id = log_dir.properties.node_id
    epoch = stored_epoch(log_dir, name, index)
    return PartitionImage([node_id], [node_id], node_id, max(0, epoch), 0)


def stored_epoch(log_dir: LogDirectory, name: str, index: int) -> int:
    """The latest leader epoch in which a partition was written here, or -1."""
    home = log_dir.directory.child(log_dir.naming.directory(name, index))
    return latest_stored_epoch(home) if home.exists() else -1


def _next_producer_id(log_dir: LogDirectory) -> int:
    """The first id of the block after the highest one in the snapshots of producers."""
    highest = -1
    for name, index in log_dir.partitions:
        home = log_dir.directory.child(log_dir.naming.directory(name, index))
        for file in home.files():
            if file.endswith(SNAPSHOT) and name != CLUSTER_METADATA:
                states = ProducerStates()
                try:
                    states.load(home.read_bytes(file))
                except SnapshotError:
                    continue
                highest = max(highest, *states.states, -1)
    return (highest // PRODUCER_IDS_PER_BLOCK + 1) * PRODUCER_IDS_PER_BLOCK
