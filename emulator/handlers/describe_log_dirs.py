"""DescribeLogDirs (35): the log directory, what lies in it, and how much room there is.

Sizes are those of the batches. What does not exist, or has no replica at the broker that is asked,
is left out. Null asks for every partition. Of a directory that is offline only that is said.

Not emulated: several log directories of one node, and so replicas that are on their way from one to
another (`is_future_key`); cordoned ones. A disk in memory has no size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error
from ...wire.api.describe_log_dirs import DescribeLogDirsRequest, DescribeLogDirsResponse
from ..base.call import Call
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..partitions.partition import Topic


Result = DescribeLogDirsResponse.Result
UNKNOWN = (-1, -1)


@handler(DescribeLogDirsRequest)
def describe_log_dirs(
    cluster: Cluster, call: Call, request: DescribeLogDirsRequest
) -> DescribeLogDirsResponse:
    try:
        cluster.log_dir.availability.look()
        total_bytes, usable_bytes = cluster.log_dir.directory.space() or UNKNOWN
    except OSError:
        offline = Result(
            log_dir=absolute_path(cluster), topics=[], error_code=Error.KAFKA_STORAGE_ERROR
        )
        return DescribeLogDirsResponse(results=[offline])
    return DescribeLogDirsResponse(
        results=[
            Result(
                log_dir=absolute_path(cluster),
                topics=[
                    Result.Topic(
                        name=name,
                        partitions=[_replica(cluster, name, index) for index in indexes],
                    )
                    for name, indexes in _asked(cluster, call.node_id, request).items()
                    if indexes or not cluster.release.lists_only_asked_directories
                ],
                total_bytes=total_bytes,
                usable_bytes=usable_bytes,
            )
        ]
    )


def absolute_path(cluster: Cluster) -> str:
    """Where the logs lie; a disk in memory has a name of its own kind."""
    return cluster.log_dir.directory.absolute_path


def _asked(cluster: Cluster, node_id: int, request: DescribeLogDirsRequest) -> dict[str, list[int]]:
    """Partitions of which the broker has a replica, each once, by topic."""
    if request.topics is None:
        return {
            topic.name: [each.index for each in topic.partitions if node_id in each.replicas]
            for topic in cluster.topics
        }
    asked: dict[str, dict[int, None]] = {}
    if not cluster.release.lists_only_asked_directories:
        asked = {
            topic.name: {}
            for topic in cluster.topics
            if any(node_id in each.replicas for each in topic.partitions)
        }
    for each in request.topics:
        topic = cluster.topics.get(each.topic)
        found = asked.setdefault(each.topic, {})
        found |= {index: None for index in each.partitions if _is_here(topic, index, node_id)}
    return {name: list(found) for name, found in asked.items()}


def _is_here(topic: Topic | None, index: int, node_id: int) -> bool:
    if topic is None or not 0 <= index < len(topic.partitions):
        return False
    return node_id in topic.partitions[index].replicas


def _replica(cluster: Cluster, name: str, index: int) -> Result.Topic.Partition:
    return Result.Topic.Partition(
        partition_index=index,
        partition_size=cluster.partition(name, index).log.size,
        offset_lag=0,
        is_future_key=False,
    )
