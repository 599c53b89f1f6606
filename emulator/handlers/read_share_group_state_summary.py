"""ReadShareGroupStateSummary (87): epochs and offsets of partitions.

Asked by leaders of partitions, and by the coordinators of groups, of the share coordinator: the
leader of the partition of `__share_group_state` that keeps the state (semantics N24).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ...wire.api.read_share_group_state_summary import (
    ReadShareGroupStateSummaryRequest,
    ReadShareGroupStateSummaryResponse,
)
from ..base.call import Call
from ..share.state import SharePartitionKey
from .registry import handler
from .share_states import by_topic, outcome

if TYPE_CHECKING:
    from ..cluster import Cluster

Response: TypeAlias = ReadShareGroupStateSummaryResponse
Asked: TypeAlias = ReadShareGroupStateSummaryRequest.Topic.Partition
Answered: TypeAlias = ReadShareGroupStateSummaryResponse.Topic.Partition


@handler(ReadShareGroupStateSummaryRequest)
def read_share_group_state_summary(
    cluster: Cluster, call: Call, request: ReadShareGroupStateSummaryRequest
) -> ReadShareGroupStateSummaryResponse:
    coordinators = cluster.share_coordinators

    def one(topic_id: bytes, asked: Asked) -> Answered:
        key = SharePartitionKey(request.group_id, topic_id, asked.partition)
        state, error, message = outcome(
            "read", lambda: coordinators.summary(key, asked=call.node_id), " summary"
        )
        if state is None:
            return Answered(
                partition=asked.partition,
                error_code=error,
                error_message=message,
                state_epoch=0,
                leader_epoch=0,
                start_offset=0,
            )
        return Answered(
            partition=asked.partition,
            state_epoch=state.state_epoch,
            leader_epoch=state.leader_epoch,
            start_offset=state.start_offset,
            delivery_complete_count=state.complete_count,
        )

    return Response(
        results=[
            Response.Topic(topic_id=topic_id, partitions=partitions)
            for topic_id, partitions in by_topic(request, one)
        ]
    )
