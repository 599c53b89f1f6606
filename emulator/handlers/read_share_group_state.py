"""ReadShareGroupState (84): the state of partitions, for their leader.

Asked by leaders of partitions, and by the coordinators of groups, of the share coordinator: the
leader of the partition of `__share_group_state` that keeps the state (semantics N24).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ...wire.api.read_share_group_state import (
    ReadShareGroupStateRequest,
    ReadShareGroupStateResponse,
)
from ..base.call import Call
from ..share.state import SharePartitionKey
from .registry import handler
from .share_states import by_topic, outcome

if TYPE_CHECKING:
    from ..cluster import Cluster

Response: TypeAlias = ReadShareGroupStateResponse
Asked: TypeAlias = ReadShareGroupStateRequest.Topic.Partition
Answered: TypeAlias = ReadShareGroupStateResponse.Topic.Partition


@handler(ReadShareGroupStateRequest)
def read_share_group_state(
    cluster: Cluster, call: Call, request: ReadShareGroupStateRequest
) -> ReadShareGroupStateResponse:
    coordinators = cluster.share_coordinators

    def one(topic_id: bytes, asked: Asked) -> Answered:
        key = SharePartitionKey(request.group_id, topic_id, asked.partition)
        state, error, message = outcome(
            "read", lambda: coordinators.read(key, asked.leader_epoch, asked=call.node_id)
        )
        if state is None:
            return Answered(
                partition=asked.partition,
                error_code=error,
                error_message=message,
                state_epoch=0,
                start_offset=0,
                state_batches=[],
            )
        return Answered(
            partition=asked.partition,
            state_epoch=state.state_epoch,
            start_offset=state.start_offset,
            state_batches=[Answered.StateBatch(**batch._asdict()) for batch in state.batches],
        )

    return Response(
        results=[
            Response.Topic(topic_id=topic_id, partitions=partitions)
            for topic_id, partitions in by_topic(request, one)
        ]
    )
