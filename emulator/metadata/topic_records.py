"""The records of a change of topics, and which replica is elected.

Kafka's order: a topic, its configs, its partitions. The metadata log fills in the directories of
replicas. Source: KIP-631, KIP-858, KIP-966.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ...wire.stored.cluster import (
    ConfigRecord,
    MetadataRecord,
    PartitionChangeRecord,
    PartitionRecord,
    TopicRecord,
)
from ..partitions.partition import NO_LEADER
from .image import TOPIC_RESOURCE, PartitionImage


def topic_records(
    name: str,
    topic_id: bytes,
    configs: Mapping[str, str],
    replicas: Sequence[list[int]],
    able: Collection[int],
) -> list[MetadataRecord]:
    """A new topic."""
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
            leader=isr[0],
            leader_epoch=0,
            partition_epoch=0,
        )
        for index, (each, isr) in enumerate(zip(replicas, in_sync, strict=True), first)
    ]


def config_records(
    resource_type: int, name: str, before: Mapping[str, str], after: Mapping[str, str]
) -> list[MetadataRecord]:
    """The difference between two sets of configs of one resource."""
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
