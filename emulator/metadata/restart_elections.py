"""Leaders resign at a stop and are re-elected at the start: leader epochs rise by 2 in between.

Rules, of a node that is broker and controller at once:
- At a clean stop every partition loses its leader; at the start it gets one. Each is a change of
  the leader, so the leader epoch and the partition epoch rise by 1 each time.
- After a kill the log still names leaders. A start of Kafka 4 first removes them, when the session
  of the killed broker has expired, and then elects: again 2 epochs. Up to 3.9 the broker that comes
  back still leads, and nothing is written.
- With eligible leader replicas, a partition without a leader has no replica in sync, and those that
  were are eligible; without that feature the last replica in sync remains in the ISR. A replica
  that is elected is in sync, and no other is eligible then.
- The stop writes one batch of records and the start another, whatever the number of partitions
  (up to 10,000). Where the disk takes nothing at the stop, the start does as after a kill.

Left out: what else is written to a real metadata log in between and clients do not see
(a LeaderChange; registrations: replication/); brokers that stop one after another; that a leader
elected after a kill counts as recovering. Source: metadata logs of Kafka 4.3.1 and 3.9.2 over stops
and kills.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from ...wire import Refused
from ...wire.stored.cluster import PartitionChangeRecord
from ..base.logger import log
from ..base.release import Release
from ..partitions.partition import NO_LEADER
from .features import ELIGIBLE_LEADERS
from .topic_records import election

if TYPE_CHECKING:
    from .image import MetadataImage, PartitionImage
    from .log import MetadataLog


def resign(metadata_log: MetadataLog) -> bool:
    """Remove the leader of every partition: a clean stop. Return whether anything was written.

    A failure is only logged: closing the log directory meets the same disk, and raises.
    """
    changes = _resignations(metadata_log.image)
    try:
        metadata_log.append(changes)
    except Refused as error:
        log.info("the leaders could not resign: %s", error)
        return False
    return bool(changes)


def take_over(metadata_log: MetadataLog, able: Collection[int], release: Release) -> None:
    """Give leaders to all partitions: a start of these brokers.

    Raises Refused (KAFKA_STORAGE_ERROR).
    """
    if release.fences_at_start:
        metadata_log.append(_resignations(metadata_log.image))
    metadata_log.append(elections(metadata_log.image, able))


def elections(image: MetadataImage, able: Collection[int]) -> list[PartitionChangeRecord]:
    """What changes so that every partition is led by one of these brokers, where one has it."""
    return [
        change
        for topic in image.topics.values()
        for index, partition in topic.partitions.items()
        if (change := election(topic.topic_id, index, partition, able)) is not None
    ]


def _resignations(image: MetadataImage) -> list[PartitionChangeRecord]:
    with_eligible = image.features.get(ELIGIBLE_LEADERS, 0) > 0
    return [
        _resignation(topic.topic_id, index, partition, with_eligible)
        for topic in image.topics.values()
        for index, partition in topic.partitions.items()
        if partition.leader != NO_LEADER
    ]


def _resignation(
    topic_id: bytes, index: int, partition: PartitionImage, with_eligible: bool
) -> PartitionChangeRecord:
    if not with_eligible:
        return PartitionChangeRecord(partition_id=index, topic_id=topic_id, leader=NO_LEADER)
    return PartitionChangeRecord(
        partition_id=index,
        topic_id=topic_id,
        leader=NO_LEADER,
        isr=[],
        eligible_leader_replicas=partition.isr,
        last_known_elr=[partition.leader],
    )
