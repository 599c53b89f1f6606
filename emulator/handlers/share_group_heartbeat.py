"""ShareGroupHeartbeat (76): a member of a share group (KIP-932) joins, stays, or leaves.

What a member must say, in the order in which it is checked (semantics N1): a member id of at most
36 characters; no empty ids; topics when it joins (epoch 0); no epoch below -1 (42).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ...wire import Error, Refused
from ...wire.api.share_group_heartbeat import (
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)
from ..base.call import Call
from ..groups.modern.member import JOINING_EPOCH, LEAVE_EPOCH
from .modern_groups import check_not_empty, has_share_groups, invalid
from .registry import handler
from .share_acknowledgements import check_member_id

if TYPE_CHECKING:
    from ..cluster import Cluster

Request: TypeAlias = ShareGroupHeartbeatRequest
Response: TypeAlias = ShareGroupHeartbeatResponse


@handler(ShareGroupHeartbeatRequest)
def share_group_heartbeat(
    cluster: Cluster, call: Call, request: ShareGroupHeartbeatRequest
) -> ShareGroupHeartbeatResponse:
    if not has_share_groups(cluster):
        return Response(error_code=Error.UNSUPPORTED_VERSION)
    try:
        if cluster.release.takes_any_share_members:
            check_member_id(request.member_id)
        _check(request)
        return cluster.groups.at(call.node_id).share.heartbeat(call, request)
    except Refused as refused:
        return Response(error_code=refused.error, error_message=refused.message)


def _check(request: Request) -> None:
    check_not_empty(MemberId=request.member_id, GroupId=request.group_id, RackId=request.rack_id)
    if request.member_epoch == JOINING_EPOCH and not request.subscribed_topic_names:
        raise invalid("SubscribedTopicNames must be set in first request.")
    if request.member_epoch < LEAVE_EPOCH:
        raise invalid("MemberEpoch is invalid.")
