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
from .registry import handles
from .share_acknowledgements import check_member_id, has_share_groups

if TYPE_CHECKING:
    from ..cluster import Cluster

Request: TypeAlias = ShareGroupHeartbeatRequest
Response: TypeAlias = ShareGroupHeartbeatResponse


@handles(ShareGroupHeartbeatRequest)
def share_group_heartbeat(
    cluster: Cluster, call: Call, request: ShareGroupHeartbeatRequest
) -> ShareGroupHeartbeatResponse:
    if not has_share_groups(cluster):
        return Response(error_code=Error.UNSUPPORTED_VERSION)
    try:
        _check(request)
        return cluster.groups.at(call.node_id).share.heartbeat(call, request)
    except Refused as refused:
        return Response(error_code=refused.error, error_message=refused.message)


def _check(request: Request) -> None:
    check_member_id(request.member_id)
    _not_empty(request.member_id, "MemberId")
    _not_empty(request.group_id, "GroupId")
    _not_empty(request.rack_id, "RackId")
    if request.member_epoch == JOINING_EPOCH and not request.subscribed_topic_names:
        raise _invalid("SubscribedTopicNames must be set in first request.")
    if request.member_epoch < LEAVE_EPOCH:
        raise _invalid("MemberEpoch is invalid.")


def _not_empty(text: str | None, name: str) -> None:
    if text is not None and not text.strip():
        raise _invalid(f"{name} can't be empty.")


def _invalid(message: str) -> Refused:
    return Refused(Error.INVALID_REQUEST, message)
