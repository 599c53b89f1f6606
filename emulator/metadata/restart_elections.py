"""Who led is gone at a stop, and elected again at a start: so leader epochs rise by 2 in between.

Rules, of a node that is broker and controller at once:
- At a clean stop every partition loses its leader; at the start it gets one. Each is a change of
  the leader, so the leader epoch and the partition epoch rise by 1 each time.
- After a kill the log still names leaders. A Kafka 4 start first takes them away, when the session
  of before has run out, and then elects; so there are 2 epochs more all the same. Up to 3.9 the
  broker that comes back is the leader still, and nothing is written.
- With eligible leader replicas nobody is left in sync, and who was is eligible; else the last in
  sync stays so. Whoever is elected is in sync, and then nobody else is eligible.
- A batch of records is written at the stop and one at the start, whatever the number of partitions.
  What a disk does not take at the stop is made up for at the start, as after a kill.

Left out: who else writes to a real metadata log meanwhile, as registrations and a LeaderChange, of
which clients see nothing; brokers that stop one after another; that a leader elected after a kill
counts as recovering. Source: metadata logs of Kafka 4.3.1 and 3.9.2 over stops and kills.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from ...wire import Refused
from ...wire.stored.cluster import PartitionChangeRecord
from ..base.logger import log
from ..base.release import Release
from .features import ELIGIBLE_LEADERS
from .topic_records import NO_LEADER, election

if TYPE_CHECKING:
    from .image import MetadataImage, PartitionImage
    from .log import MetadataLog


def resign(metadata_log: MetadataLog) -> bool:
    """Take the leader of every partition away: a clean stop. Return whether anything was written.

    A disk that takes nothing is only noted: who closes the log directory says what that means.
    """
    changes = _resignations(metadata_log.image)
    try:
        metadata_log.append(changes)
    except Refused as error:
        log.info("the leaders could not resign: %s", error)
        return False
    return bool(changes)


def take_over(metadata_log: MetadataLog, alive: Collection[int], release: Release) -> None:
    """Give leaders to all partitions: a start, of these brokers.

    Raises Refused (KAFKA_STORAGE_ERROR).
    """
    image = metadata_log.image
    if release.fences_at_start:
        metadata_log.append(_resignations(image))
    changes = [
        change
        for topic in image.topics.values()
        for index, partition in topic.partitions.items()
        if (change := election(topic.topic_id, index, partition, alive)) is not None
    ]
    metadata_log.append(changes)


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
