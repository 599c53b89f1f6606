"""DeleteRecords (21): let partitions begin at a later offset; -1 means at the high watermark.

What lies below cannot be read any more; segments that lie below it wholly go when retention next
runs. Refused for internal topics, and for topics that are only compacted (semantics E8). Of a
partition that is named twice the last offset counts, and it is answered once.

Not emulated: waiting for followers to take over the new start (`timeout_ms`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.api.delete_records import DeleteRecordsRequest, DeleteRecordsResponse
from ..base.call import Call, principal_details
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster

Answer = DeleteRecordsResponse.Topic.Partition


@handler(DeleteRecordsRequest)
def delete_records(
    cluster: Cluster, call: Call, request: DeleteRecordsRequest
) -> DeleteRecordsResponse:
    asked: dict[str, dict[int, int]] = {}
    for topic in request.topics:
        for partition in topic.partitions:
            asked.setdefault(topic.name, {})[partition.partition_index] = partition.offset
    response = DeleteRecordsResponse(
        topics=[
            DeleteRecordsResponse.Topic(
                name=name,
                partitions=[
                    _delete(cluster, call, name, index, offset) for index, offset in offsets.items()
                ],
            )
            for name, offsets in asked.items()
        ]
    )
    if any(not answer.error_code for topic in response.topics for answer in topic.partitions):
        cluster.checkpoint()
    return response


def _delete(cluster: Cluster, call: Call, name: str, index: int, before: int) -> Answer:
    try:
        partition = cluster.partition(name, index)
        topic = partition.topic
        if topic.is_internal:
            raise Refused(Error.INVALID_TOPIC_EXCEPTION)
        partition.check_leader(call.node_id)
        if topic.config.cleanup_policy == {"compact"}:
            raise Refused(Error.POLICY_VIOLATION)
        low = partition.delete_records(before)
        client, details = call.connection.name, principal_details(call.principal)
        cluster.journal.add(
            "records deleted",
            client=client,
            topic=name,
            partition=index,
            last_offset=low,
            details=details,
        )
        return Answer(partition_index=index, low_watermark=low)
    except Refused as refused:
        return Answer(partition_index=index, low_watermark=-1, error_code=refused.error)
