"""Heartbeat (12): a member of a classic group is alive; the answer says if it must join anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Refused
from ...wire.api.heartbeat import HeartbeatRequest, HeartbeatResponse
from ..base.call import Call
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster


@handler(HeartbeatRequest)
def heartbeat(cluster: Cluster, call: Call, request: HeartbeatRequest) -> HeartbeatResponse:
    try:
        cluster.groups.at(call.connection.node_id).classic.heartbeat(request)
    except Refused as refused:
        return HeartbeatResponse(error_code=refused.error)
    return HeartbeatResponse()
