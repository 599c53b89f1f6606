"""ListOffsets v0: the offsets at which segments begin, newest first (semantics, L24).

What may be answered: where each segment begins, but nothing below the log start, and the log end
if there is anything in the newest segment. Each has a time: when its segment was last written, the
end now. Asked for -1 all are given, for -2 the first, for a time those up to the newest that is no
later; of these as many as wanted. Other negative times are not known (35). Open transactions count
like anything else. A partition named twice is answered twice.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.api.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from ..base.call import Call
from ..base.turns import Slices, each_of

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..partitions.partition import Partition

Asked = ListOffsetsRequest.Topic.Partition
Found = ListOffsetsResponse.Topic.Partition

PARTITIONS_A_SLICE = 20
LATEST, EARLIEST = -1, -2
DEBUGGER = -2
"""The replica id of one who also asks followers."""


def list_old_offsets(
    cluster: Cluster, call: Call, request: ListOffsetsRequest
) -> Slices[ListOffsetsResponse]:
    """Answer v0."""
    topics = []
    for topic in request.topics:
        one = partial(_find, cluster, call, request, topic.name)
        found = yield from each_of(topic.partitions, one, PARTITIONS_A_SLICE)
        topics.append(ListOffsetsResponse.Topic(name=topic.name, partitions=found))
    return ListOffsetsResponse(topics=topics)


def _find(
    cluster: Cluster, call: Call, request: ListOffsetsRequest, name: str, asked: Asked
) -> Found:
    found = Found(partition_index=asked.partition_index, old_style_offsets=[])
    try:
        if asked.timestamp < EARLIEST and cluster.release.refuses_unknown_timestamps:
            raise Refused(Error.UNSUPPORTED_VERSION)
        leader_only = request.replica_id != DEBUGGER
        partition = partition_of(cluster, name, asked.partition_index, leader_only=leader_only)
        partition.check_read(call.node_id, leader_only=leader_only)
        candidates = _candidates(partition, asked.timestamp, call.now)
        if asked.max_num_offsets < 0:
            raise Refused(Error.UNKNOWN_SERVER_ERROR)
        found.old_style_offsets = candidates[: asked.max_num_offsets]
    except Refused as refused:
        found.error_code = refused.error
    return found


def partition_of(cluster: Cluster, name: str, index: int, *, leader_only: bool) -> Partition:
    """The partition that was asked for. Raises Refused."""
    try:
        return cluster.partition(name, index)
    except Refused as refused:
        if leader_only or cluster.release.lists_missing_replicas:
            raise
        raise Refused(Error.REPLICA_NOT_AVAILABLE) from refused


def _candidates(partition: Partition, timestamp: int, now: int) -> list[int]:
    log = partition.log
    dated = [
        (max(segment.base_offset, log.log_start_offset), segment.modified_ms)
        for segment in log.segments
    ]
    if log.segments[-1].size:
        dated.append((log.log_end_offset, now))
    if timestamp == EARLIEST:
        return [dated[0][0]]
    last = len(dated) - 1
    if timestamp != LATEST:
        while last >= 0 and dated[last][1] > timestamp:
            last -= 1
    return sorted((offset for offset, _ in dated[: last + 1]), reverse=True)
