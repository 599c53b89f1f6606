"""ListPartitionReassignments (46): the moves that are going on, all or those of some partitions.

A move goes on while a broker that is to have the partition is not in sync. Partitions that are not
moved, or not there, are left out.

Not emulated: waiting (`timeout_ms`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire.api.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from ..base.call import Call
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..metadata.image import TopicImage

Topic = ListPartitionReassignmentsResponse.Topic


@handler(ListPartitionReassignmentsRequest)
def list_reassignments(
    cluster: Cluster, call: Call, request: ListPartitionReassignmentsRequest
) -> ListPartitionReassignmentsResponse:
    asked = None
    if request.topics is not None:
        asked = {topic.name: set(topic.partition_indexes) for topic in request.topics}
    topics = []
    for topic in cluster.metadata.image.topics.values():
        if asked is None or topic.name in asked:
            moves = _moves(topic, None if asked is None else asked[topic.name])
            if moves:
                topics.append(Topic(name=topic.name, partitions=moves))
    return ListPartitionReassignmentsResponse(error_message=None, topics=topics)


def _moves(topic: TopicImage, indexes: set[int] | None) -> list[Topic.Partition]:
    return [
        Topic.Partition(
            partition_index=index,
            replicas=partition.replicas,
            adding_replicas=partition.adding,
            removing_replicas=partition.removing,
        )
        for index, partition in topic.partitions.items()
        if (indexes is None or index in indexes) and (partition.adding or partition.removing)
    ]
