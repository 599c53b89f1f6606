"""DeleteShareGroupState (86): delete the state of partitions.

Asked by leaders of partitions, and by the coordinators of groups, of the share coordinator: the
leader of the partition of `__share_group_state` that keeps the state (semantics N24).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ...wire.api.delete_share_group_state import (
    DeleteShareGroupStateRequest,
    DeleteShareGroupStateResponse,
)
from ..base.call import Call
from ..share.state import SharePartitionKey
from .registry import handler
from .share_states import by_topic, outcome

if TYPE_CHECKING:
    from ..cluster import Cluster

Response: TypeAlias = DeleteShareGroupStateResponse
Asked: TypeAlias = DeleteShareGroupStateRequest.Topic.Partition
Answered: TypeAlias = DeleteShareGroupStateResponse.Topic.Partition


@handler(DeleteShareGroupStateRequest)
def delete_share_group_state(
    cluster: Cluster, call: Call, request: DeleteShareGroupStateRequest
) -> DeleteShareGroupStateResponse:
    coordinators = cluster.share_coordinators

    def one(topic_id: bytes, asked: Asked) -> Answered:
        key = SharePartitionKey(request.group_id, topic_id, asked.partition)
        error, message = outcome("delete", lambda: coordinators.delete(key, asked=call.node_id))[1:]
        return Answered(partition=asked.partition, error_code=error, error_message=message)

    return Response(
        results=[
            Response.Topic(topic_id=topic_id, partitions=partitions)
            for topic_id, partitions in by_topic(request, one)
        ]
    )
