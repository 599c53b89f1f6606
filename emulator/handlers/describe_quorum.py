"""DescribeQuorum (55): who leads the metadata log, and how far it is.

There is one voter, the controller, and nobody observes. Only that log can be asked for, alone: with
anything else in the request nothing is found. Directory ids are told once the voters are kept in
the log (`kraft.version` 1).

Not emulated: a listener of the controller's own; the broker's address stands for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import NO_ID, Error
from ...wire.api.describe_quorum import DescribeQuorumRequest, DescribeQuorumResponse
from ..base.call import Call
from ..metadata.feature_updates import CONTROLLER_LISTENER
from ..metadata.log import TOPIC
from .registry import handles

if TYPE_CHECKING:
    from ..cluster import Cluster


Topic = DescribeQuorumResponse.Topic
Partition = Topic.Partition
Node = DescribeQuorumResponse.Node


@handles(DescribeQuorumRequest)
def describe_quorum(
    cluster: Cluster, call: Call, request: DescribeQuorumRequest
) -> DescribeQuorumResponse:
    asked = [(t.topic_name, [p.partition_index for p in t.partitions]) for t in request.topics]
    if asked != [(TOPIC, [0])]:
        return DescribeQuorumResponse(
            topics=[
                Topic(topic_name=name, partitions=[_unknown(call.version, i) for i in indexes])
                for name, indexes in asked
            ]
        )
    controller = cluster.nodes[cluster.controller_id]
    listener = Node.Listener(name=CONTROLLER_LISTENER, host=controller.host, port=controller.port)
    return DescribeQuorumResponse(
        topics=[Topic(topic_name=TOPIC, partitions=[_quorum(cluster, call.now)])],
        nodes=[Node(node_id=controller.node_id, listeners=[listener])],
    )


def _quorum(cluster: Cluster, now: int) -> Partition:
    has_ids = cluster.features.quorum_version > 0
    directory_id = cluster.log_dir.properties.directory_id
    voter = DescribeQuorumResponse.ReplicaState(
        replica_id=cluster.controller_id,
        replica_directory_id=directory_id if has_ids and directory_id else NO_ID,
        log_end_offset=cluster.metadata.end_offset,
        last_fetch_timestamp=now,
        last_caught_up_timestamp=now,
    )
    return Partition(
        partition_index=0,
        leader_id=cluster.controller_id,
        leader_epoch=cluster.metadata.epoch,
        high_watermark=cluster.metadata.end_offset,
        current_voters=[voter],
        observers=[],
    )


def _unknown(version: int, index: int) -> Partition:
    return Partition(
        partition_index=index,
        error_code=Error.UNKNOWN_TOPIC_OR_PARTITION,
        error_message="This server does not host this topic-partition." if version >= 2 else "",
        leader_id=0,
        leader_epoch=0,
        high_watermark=0,
        current_voters=[],
        observers=[],
    )
