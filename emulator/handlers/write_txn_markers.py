"""WriteTxnMarkers (27): a coordinator ends transactions in partitions, or an administrator does.

Each partition is answered for itself, by its leader; markers of one producer share an entry. A
producer id or epoch of -1 fails the whole request (-1). Without an authorizer anyone may ask
(semantics H8). A real broker never answers when a partition is named twice; this one does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.api.write_txn_markers import WriteTxnMarkersRequest, WriteTxnMarkersResponse
from ..base.call import Call
from ..transactions.admission import Marker, write_marker
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster

Answered = WriteTxnMarkersResponse.Marker
Partition = Answered.Topic.Partition


@handler(WriteTxnMarkersRequest)
def write_txn_markers(
    cluster: Cluster, call: Call, request: WriteTxnMarkersRequest
) -> WriteTxnMarkersResponse:
    errors: dict[int, dict[tuple[str, int], Error]] = {}
    has_failed = False
    for asked in request.markers:
        marker = Marker(
            asked.producer_id,
            asked.producer_epoch,
            asked.transaction_result,
            asked.coordinator_epoch,
            asked.transaction_version,
        )
        of_producer = errors.setdefault(asked.producer_id, {})
        for topic in asked.topics:
            for index in dict.fromkeys(topic.partition_indexes):
                error = _write(cluster, call.node_id, topic.name, index, marker)
                of_producer[topic.name, index] = error
                has_failed |= marker.lacks_producer and error is Error.UNKNOWN_SERVER_ERROR
    if has_failed:
        errors = {
            producer_id: dict.fromkeys(of_producer, Error.UNKNOWN_SERVER_ERROR)
            for producer_id, of_producer in errors.items()
        }
    return WriteTxnMarkersResponse(
        markers=[
            Answered(producer_id=producer_id, topics=_by_topic(of_producer))
            for producer_id, of_producer in errors.items()
            if of_producer
        ]
    )


def _write(cluster: Cluster, node_id: int, topic: str, index: int, marker: Marker) -> Error:
    try:
        partition = cluster.partition(topic, index)
        if node_id not in partition.replicas:
            raise Refused(Error.UNKNOWN_TOPIC_OR_PARTITION)
        marker.check()
        partition.check_leader(node_id)
        write_marker(partition, marker, cluster.clock.now(), cluster.groups)
    except Refused as refused:
        return refused.error
    return Error.NONE


def _by_topic(errors: dict[tuple[str, int], Error]) -> list[Answered.Topic]:
    topics: dict[str, Answered.Topic] = {}
    for (name, index), error in errors.items():
        topic = topics.setdefault(name, Answered.Topic(name=name, partitions=[]))
        topic.partitions.append(Partition(partition_index=index, error_code=error))
    return list(topics.values())
