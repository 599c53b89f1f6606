"""AlterReplicaLogDirs (34): move replicas between log directories, of which there is one.

To move one to where it is changes nothing. A directory that is not there is what is wrong with a
replica before anything else; of a partition that is named twice the last directory counts.

Not emulated: several log directories of one node.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.api.alter_replica_log_dirs import (
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
)
from ..base.call import Call
from .describe_log_dirs import absolute_path
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster


Topic = AlterReplicaLogDirsResponse.Topic


@handler(AlterReplicaLogDirsRequest)
def alter_log_dirs(
    cluster: Cluster, call: Call, request: AlterReplicaLogDirsRequest
) -> AlterReplicaLogDirsResponse:
    wanted: dict[str, dict[int, str]] = {}
    for each in request.dirs:
        for topic in each.topics:
            for index in topic.partitions:
                wanted.setdefault(topic.name, {})[index] = each.path
    return AlterReplicaLogDirsResponse(
        results=[
            Topic(
                topic_name=name,
                partitions=[
                    Topic.Partition(
                        partition_index=index,
                        error_code=_check(cluster, call.node_id, name, index, path),
                    )
                    for index, path in paths.items()
                ],
            )
            for name, paths in wanted.items()
        ]
    )


def _check(cluster: Cluster, node_id: int, name: str, index: int, path: str) -> Error:
    if path != absolute_path(cluster):
        return Error.LOG_DIR_NOT_FOUND
    try:
        partition = cluster.partition(name, index)
    except Refused as refused:
        return refused.error
    return Error.NONE if node_id in partition.replicas else Error.REPLICA_NOT_AVAILABLE
