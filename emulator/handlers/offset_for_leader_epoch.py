"""OffsetForLeaderEpoch (23): where did a leader's epoch end?

A consumer that comes back asks for the epoch it last read under, and learns whether the log still
holds what it saw (semantics D4). A partition that is asked twice is answered twice.

Not emulated: followers; the replica id is not looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Refused
from ...wire.api.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
)
from ..base.call import Call
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster

Asked = OffsetForLeaderEpochRequest.Topic.Partition
Answer = OffsetForLeaderEpochResponse.Topic.Partition


@handler(OffsetForLeaderEpochRequest)
def offset_for_leader_epoch(
    cluster: Cluster, call: Call, request: OffsetForLeaderEpochRequest
) -> OffsetForLeaderEpochResponse:
    return OffsetForLeaderEpochResponse(
        topics=[
            OffsetForLeaderEpochResponse.Topic(
                topic=topic.topic,
                partitions=[_find(cluster, call, topic.topic, asked) for asked in topic.partitions],
            )
            for topic in request.topics
        ]
    )


def _find(cluster: Cluster, call: Call, name: str, asked: Asked) -> Answer:
    try:
        partition = cluster.partition(name, asked.partition)
        partition.check_read(call.node_id, asked.current_leader_epoch)
    except Refused as refused:
        return Answer(partition=asked.partition, error_code=refused.error)
    end = partition.log_end_offset
    knows, epochs = cluster.release.knows_epoch_of_empty_logs, partition.log.epochs
    epoch, offset = epochs.end_offset_for(asked.leader_epoch, end, is_leader=knows)
    if not knows and epochs.entries and asked.leader_epoch < epochs.entries[0].epoch:
        epoch, offset = -1, -1
    return Answer(partition=asked.partition, leader_epoch=epoch, end_offset=offset)
