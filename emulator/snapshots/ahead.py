"""What may not go back when a state is restored, because clients that live on compare it.

- Leader epochs: a client takes no metadata of an older epoch than it knows, and a fetch with a
  newer one than the broker has is refused for ever.
- Producer ids: one that was given to a producer since would be given to another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire.stored.cluster import MetadataRecord, PartitionChangeRecord, ProducerIdsRecord
from ..partitions.partition import NO_LEADER

if TYPE_CHECKING:
    from ..metadata.image import MetadataImage
    from ..metadata.log import MetadataLog


def stay_ahead(restored: MetadataLog, before: MetadataImage, node_id: int) -> None:
    """Go on from what there was before. Raises Refused (KAFKA_STORAGE_ERROR)."""
    records: list[MetadataRecord] = []
    for topic in restored.image.topics.values():
        known = before.topics.get(topic.topic_id)
        for index, partition in topic.partitions.items():
            if known is None or index not in known.partitions or partition.leader == NO_LEADER:
                continue
            behind = known.partitions[index].leader_epoch - partition.leader_epoch
            change = PartitionChangeRecord(
                partition_id=index, topic_id=topic.topic_id, leader=partition.leader
            )
            records += [change] * max(0, behind)
    if before.next_producer_id > restored.image.next_producer_id:
        records.append(
            ProducerIdsRecord(broker_id=node_id, next_producer_id=before.next_producer_id)
        )
    if records:
        restored.append(records)
