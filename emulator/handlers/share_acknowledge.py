"""ShareAcknowledge (79): a member of a share group is done with records, or keeps them longer.

The request belongs to the member's share session, and cannot open one (semantics N17-N19). With
epoch -1 the session ends, and all that the member still has becomes available.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from ...wire import Error, Refused, Response
from ...wire.api.share_acknowledge import ShareAcknowledgeRequest, ShareAcknowledgeResponse
from ..base.call import Call, Sentinel
from ..share.share_partition_manager import (
    FINAL_EPOCH,
    INITIAL_EPOCH,
    ShareSessionKey,
    TopicIdPartition,
    next_epoch,
)
from .modern_groups import has_share_groups
from .node_endpoints import endpoints
from .registry import handler
from .share_acknowledgements import (
    RENEWALS_SINCE,
    Acknowledging,
    AckResult,
    Asked,
    acknowledged,
    check_member,
)

if TYPE_CHECKING:
    from ..cluster import Cluster

Topic: TypeAlias = ShareAcknowledgeResponse.Topic
_MOVED = (Error.NOT_LEADER_OR_FOLLOWER, Error.FENCED_LEADER_EPOCH)


@handler(ShareAcknowledgeRequest)
def share_acknowledge(
    cluster: Cluster, call: Call, request: ShareAcknowledgeRequest
) -> Response | Sentinel:
    if not has_share_groups(cluster):
        return _refused(Error.UNSUPPORTED_VERSION)
    try:
        return _acknowledged(cluster, call, request)
    except Refused as refused:
        return _refused(refused.error)


def _refused(error: Error) -> ShareAcknowledgeResponse:
    return ShareAcknowledgeResponse(error_code=error, responses=[], node_endpoints=[])


def _acknowledged(
    cluster: Cluster, call: Call, request: ShareAcknowledgeRequest
) -> Response | Sentinel:
    """Acknowledge in the session. Raises Refused if the whole request fails."""
    leader = cluster.share_partition_managers.at(call.node_id)
    group_id = check_member(cluster, request.group_id, request.member_id)
    key = ShareSessionKey(group_id, request.member_id or "")
    epoch = request.share_session_epoch
    if epoch == INITIAL_EPOCH:
        raise Refused(Error.INVALID_SHARE_SESSION_EPOCH)
    if epoch == FINAL_EPOCH:
        leader.sessions.get(key)
    else:
        leader.sessions.next(key, epoch).epoch = next_epoch(epoch)
    asked = [
        Asked(TopicIdPartition(topic.topic_id, each.partition_index), each.acknowledgement_batches)
        for topic in request.topics
        for each in topic.partitions
    ]
    carry_out = partial(
        acknowledged,
        *(cluster, leader, group_id, key.member_id),
        knows_renewal=call.version >= RENEWALS_SINCE,
        renews=request.is_renew_ack,
    )

    def answer(results: dict[TopicIdPartition, AckResult]) -> Response:
        if epoch == FINAL_EPOCH:
            leader.close_session(key)
        response = ShareAcknowledgeResponse(
            acquisition_lock_timeout_ms=leader.settings(group_id).lock_ms,
            responses=[],
            node_endpoints=[],
        )
        _add(cluster, call, response, results)
        return response

    return Acknowledging(call, asked, carry_out, answer, _refused).begin(cluster)


def _add(
    cluster: Cluster,
    call: Call,
    response: ShareAcknowledgeResponse,
    results: dict[TopicIdPartition, AckResult],
) -> None:
    topics: dict[bytes, Topic] = {}
    leaders: set[int] = set()
    for part, result in results.items():
        answer = Topic.Partition(
            partition_index=part.partition,
            error_code=result.error,
            error_message=result.message,
            current_leader=Topic.Partition.LeaderIdAndEpoch(leader_id=0, leader_epoch=0),
        )
        found = cluster.topics.by_id(part.topic_id)
        if result.error in _MOVED and found is not None:
            partition = found.partitions[part.partition]
            answer.current_leader.leader_id = partition.leader
            answer.current_leader.leader_epoch = partition.leader_epoch
            leaders.add(partition.leader)
        if part.topic_id not in topics:
            topics[part.topic_id] = Topic(topic_id=part.topic_id, partitions=[])
            response.responses.append(topics[part.topic_id])
        topics[part.topic_id].partitions.append(answer)
    response.node_endpoints = endpoints(
        ShareAcknowledgeResponse.NodeEndpoint, cluster, call, leaders
    )
