"""DescribeQuorum (55): who leads the metadata log, and how far it is.

Every broker is a voter, and nobody observes. One that does not run, or does not reach the
controller, has what it had then. Only that log can be asked for, alone: with anything else in the
request nothing is found. Directory ids are answered once the voters are kept in the log
(`kraft.version` 1).

Not emulated: a listener of the controllers' own, for which the brokers' addresses stand; directory
ids that differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import NO_ID, Error
from ...wire.api.describe_quorum import DescribeQuorumRequest, DescribeQuorumResponse
from ..base.call import Call
from ..metadata.feature_updates import CONTROLLER_LISTENER
from ..metadata.log import TOPIC
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster


Topic = DescribeQuorumResponse.Topic
Partition = Topic.Partition
Node = DescribeQuorumResponse.Node


@handler(DescribeQuorumRequest)
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
    nodes = [
        Node(
            node_id=each.node_id,
            listeners=[Node.Listener(name=CONTROLLER_LISTENER, host=each.host, port=each.port)],
        )
        for each in cluster.nodes.values()
    ]
    return DescribeQuorumResponse(
        topics=[Topic(topic_name=TOPIC, partitions=[_quorum(cluster, call.now)])], nodes=nodes
    )


def _quorum(cluster: Cluster, now: int) -> Partition:
    has_ids = cluster.features.quorum_version > 0
    directory_id = cluster.log_dir.properties.directory_id
    quorum, end = cluster.replication.quorum, cluster.metadata.end_offset
    voters = []
    for node_id in cluster.nodes:
        has, heard = quorum.left.get(node_id, (end, now))
        voters.append(
            DescribeQuorumResponse.ReplicaState(
                replica_id=node_id,
                replica_directory_id=directory_id if has_ids and directory_id else NO_ID,
                log_end_offset=has,
                last_fetch_timestamp=heard,
                last_caught_up_timestamp=heard,
            )
        )
    return Partition(
        partition_index=0,
        leader_id=quorum.leader,
        leader_epoch=cluster.metadata.epoch,
        high_watermark=end,
        current_voters=voters,
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
