"""DescribeShareGroupOffsets (90): where share groups begin in partitions, and how far they lag.

The lag is what is left from the start offset to the end, without what is done with. What has no
offset yet, or does not exist, is -1 without an error (semantics N20). The group "", a topic without
partitions, or a partition below 0 is what Kafka's coordinator of states cannot be asked: then the
group has UNKNOWN_SERVER_ERROR. A partition that a topic does not have is answered here as one
without an offset; Kafka never answers such a request.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from ...wire import NO_ID, Error, Refused
from ...wire.api.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsResponse,
)
from ..base.call import UNEXPECTED_TEXT, Call
from ..base.java_order import id_order, int_order
from ..partitions.partition import Topic
from ..share.state import NO_OFFSET, UNINITIALIZED, SharePartitionKey
from .modern_groups import has_share_groups
from .registry import handler
from .share_group_offsets import sentence_of

if TYPE_CHECKING:
    from ..cluster import Cluster

Response: TypeAlias = DescribeShareGroupOffsetsResponse
Answered: TypeAlias = Response.Group.Topic.Partition


@handler(DescribeShareGroupOffsetsRequest)
def describe_share_group_offsets(
    cluster: Cluster, call: Call, request: DescribeShareGroupOffsetsRequest
) -> DescribeShareGroupOffsetsResponse:
    return Response(groups=[_group(cluster, call, each) for each in request.groups])


def _group(
    cluster: Cluster, call: Call, asked: DescribeShareGroupOffsetsRequest.Group
) -> Response.Group:
    group_id = asked.group_id
    if not has_share_groups(cluster):
        error = Error.UNSUPPORTED_VERSION
        return Response.Group(group_id=group_id, topics=[], error_code=error)
    try:
        if asked.topics is None:
            topics = _all(cluster, call, group_id)
        else:
            topics = _named(cluster, group_id, asked.topics)
    except Refused as refused:
        return Response.Group(
            group_id=group_id,
            topics=[],
            error_code=refused.error,
            error_message=sentence_of(refused),
        )
    return Response.Group(group_id=group_id, topics=topics)


def _all(cluster: Cluster, call: Call, group_id: str) -> list[Response.Group.Topic]:
    """All that are initialised. Raises Refused."""
    known = cluster.groups.at(call.node_id).share.initialized(group_id)
    found: Mapping[bytes, Iterable[int]] = {t: int_order(known[t]) for t in id_order(known)}
    topics = [(cluster.topics.by_id(topic_id), parts) for topic_id, parts in found.items()]
    return [_topic(cluster, group_id, topic, parts) for topic, parts in topics if topic is not None]


def _named(
    cluster: Cluster,
    group_id: str,
    asked: Iterable[DescribeShareGroupOffsetsRequest.Group.Topic],
) -> list[Response.Group.Topic]:
    """Those that exist, each once and in the order of Java's hash maps, then the others as they
    were asked. Raises Refused."""
    known: dict[bytes, set[int]] = {}
    missing = []
    for each in asked:
        topic = cluster.topics.get(each.topic_name)
        if topic is not None:
            if not group_id or not each.partitions or min(each.partitions) < 0:
                raise Refused(Error.UNKNOWN_SERVER_ERROR, UNEXPECTED_TEXT)
            known.setdefault(topic.id, set()).update(each.partitions)
            continue
        missing.append(
            Response.Group.Topic(
                topic_name=each.topic_name,
                topic_id=NO_ID,
                partitions=[_none(index, epoch=0) for index in each.partitions],
            )
        )
    found = ((cluster.topics.by_id(topic_id), known[topic_id]) for topic_id in id_order(known))
    return [
        _topic(cluster, group_id, topic, int_order(parts)) for topic, parts in found if topic
    ] + missing


def _topic(
    cluster: Cluster, group_id: str, topic: Topic, parts: Iterable[int]
) -> Response.Group.Topic:
    return Response.Group.Topic(
        topic_name=topic.name,
        topic_id=topic.id,
        partitions=[_partition(cluster, group_id, topic, index) for index in parts],
    )


def _partition(cluster: Cluster, group_id: str, topic: Topic, index: int) -> Answered:
    try:
        state = cluster.share_coordinators.summary(SharePartitionKey(group_id, topic.id, index))
    except Refused:
        return _none(index, epoch=0)
    has_lag = state.start_offset != NO_OFFSET and state.complete_count != UNINITIALIZED
    answer = Answered(
        partition_index=index, start_offset=state.start_offset, leader_epoch=state.leader_epoch
    )
    if has_lag:
        end = topic.partitions[index].high_watermark
        answer.lag = end - state.start_offset - state.complete_count
    return answer


def _none(index: int, *, epoch: int) -> Answered:
    return Answered(partition_index=index, start_offset=NO_OFFSET, leader_epoch=epoch)
