"""DescribeProducers (61): who has written to partitions: epochs, sequences, open transactions.

A producer is known from its first batch on, and until it expires (semantics H11). A bad name of a
topic has another error than one that does not exist; a partition that does not exist has no
message. A follower answers as the leader does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.api.describe_producers import DescribeProducersRequest, DescribeProducersResponse
from ..base.call import Call
from ..metadata.topic_rules import check_name
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster


Answer = DescribeProducersResponse.Topic.Partition


@handler(DescribeProducersRequest)
def describe_producers(
    cluster: Cluster, call: Call, request: DescribeProducersRequest
) -> DescribeProducersResponse:
    return DescribeProducersResponse(
        topics=[
            DescribeProducersResponse.Topic(
                name=topic.name,
                partitions=[
                    _describe(cluster, call, topic.name, index) for index in topic.partition_indexes
                ],
            )
            for topic in request.topics
        ]
    )


def _describe(cluster: Cluster, call: Call, name: str, index: int) -> Answer:
    is_checked = cluster.release.checks_described_topics
    try:
        if is_checked:
            check_name(name)
        if cluster.topics.get(name) is None:
            message = "This server does not host this topic-partition."
            raise Refused(Error.UNKNOWN_TOPIC_OR_PARTITION, message)
        partition = cluster.partition(name, index)
        partition.check_replica(call.node_id)
    except Refused as refused:
        return Answer(
            partition_index=index,
            error_code=refused.error,
            error_message=refused.message if is_checked else None,
            active_producers=[],
        )
    return Answer(
        partition_index=index,
        active_producers=[
            Answer.ActiveProducer(
                producer_id=producer_id,
                producer_epoch=state.epoch,
                last_sequence=state.last_sequence,
                last_timestamp=state.last_timestamp,
                coordinator_epoch=state.coordinator_epoch,
                current_txn_start_offset=state.txn_first_offset,
            )
            for producer_id, state in partition.log.producers.states.items()
        ],
    )
