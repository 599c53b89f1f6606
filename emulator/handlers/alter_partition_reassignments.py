"""AlterPartitionReassignments (45): move partitions to other brokers (semantics I7).

Brokers that come have what the log has as soon as they run, so a move to such brokers is over when
it begins; one to a broker that is down waits for it, and can be replaced or cancelled.

Not emulated: waiting (`timeout_ms`), but a limit of 0 or less is over at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ...wire import Error, Refused
from ...wire.api.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)
from ...wire.stored.cluster import PartitionChangeRecord
from ..base.call import Call
from .one_change import write_together
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster


Topic = AlterPartitionReassignmentsResponse.Topic
Answer = Topic.Partition
Planned: TypeAlias = list[tuple[Answer, list[PartitionChangeRecord]]]


@handler(AlterPartitionReassignmentsRequest)
def alter_reassignments(
    cluster: Cluster, call: Call, request: AlterPartitionReassignmentsRequest
) -> AlterPartitionReassignmentsResponse:
    if not cluster.release.has_kraft:
        from .moves_old import reassign_old

        moved = reassign_old(cluster, request)
        return AlterPartitionReassignmentsResponse(error_message="", responses=moved)
    is_late = request.timeout_ms <= 0
    may_change = request.allow_replication_factor_change
    planned: Planned = []
    response = AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=may_change or is_late or not request.topics,
        error_code=Error.REQUEST_TIMED_OUT if is_late and request.topics else Error.NONE,
        error_message=None if request.topics else "",
        responses=[
            Topic(
                name=topic.name,
                partitions=[
                    Answer(
                        partition_index=asked.partition_index,
                        error_code=Error.REQUEST_TIMED_OUT,
                        error_message=None,
                    )
                    if is_late
                    else _reassign(cluster, topic.name, asked, may_change, planned)
                    for asked in topic.partitions
                ],
            )
            for topic in request.topics
        ],
    )
    write_together(cluster, planned)
    cluster.replication.settle()
    return response


def _reassign(
    cluster: Cluster,
    name: str,
    asked: AlterPartitionReassignmentsRequest.Topic.Partition,
    may_change: bool,
    planned: Planned,
) -> Answer:
    """Judge one move, and note in `planned` what it writes."""
    index, replicas = asked.partition_index, asked.replicas
    answer = Answer(partition_index=index, error_message=None)
    try:
        topic = cluster.topics.get(name)
        if topic is None:
            message = f"Unable to find a topic named {name}."
            raise Refused(Error.UNKNOWN_TOPIC_OR_PARTITION, message)
        if not 0 <= index < len(topic.partitions):
            message = f"Unable to find partition {name}:{index}."
            raise Refused(Error.UNKNOWN_TOPIC_OR_PARTITION, message)
        controller = cluster.replication.controller
        if replicas is None:
            records = controller.cancel(topic.id, index)
        else:
            records = controller.reassign(topic.id, index, replicas, may_change_number=may_change)
        planned.append((answer, records))
    except Refused as refused:
        answer.error_code, answer.error_message = refused.error, refused.message
    return answer
