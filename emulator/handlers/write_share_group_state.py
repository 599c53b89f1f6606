"""WriteShareGroupState (85): store what has changed in partitions.

Asked by leaders of partitions, and by the coordinators of groups, of the share coordinator: the
leader of the partition of `__share_group_state` that keeps the state (semantics N24).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ...wire.api.write_share_group_state import (
    WriteShareGroupStateRequest,
    WriteShareGroupStateResponse,
)
from ..base.call import Call
from ..share.state import Change, SharePartitionKey, StateBatch
from .registry import handler
from .share_states import by_topic, outcome

if TYPE_CHECKING:
    from ..cluster import Cluster

Response: TypeAlias = WriteShareGroupStateResponse
Asked: TypeAlias = WriteShareGroupStateRequest.Topic.Partition
Answered: TypeAlias = WriteShareGroupStateResponse.Topic.Partition


@handler(WriteShareGroupStateRequest)
def write_share_group_state(
    cluster: Cluster, call: Call, request: WriteShareGroupStateRequest
) -> WriteShareGroupStateResponse:
    coordinators = cluster.share_coordinators

    def one(topic_id: bytes, asked: Asked) -> Answered:
        key = SharePartitionKey(request.group_id, topic_id, asked.partition)
        change = Change(
            asked.start_offset,
            asked.delivery_complete_count,
            tuple(
                StateBatch(
                    *(each.first_offset, each.last_offset),
                    *(each.delivery_count, each.delivery_state),
                )
                for each in asked.state_batches
            ),
        )
        error, message = outcome(
            "write",
            lambda: coordinators.write(
                *(key, asked.state_epoch, asked.leader_epoch, change), asked=call.node_id
            ),
        )[1:]
        return Answered(partition=asked.partition, error_code=error, error_message=message)

    return Response(
        results=[
            Response.Topic(topic_id=topic_id, partitions=partitions)
            for topic_id, partitions in by_topic(request, one)
        ]
    )
