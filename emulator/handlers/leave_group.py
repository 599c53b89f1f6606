"""LeaveGroup (13): members leave, by id or by instance; one before v3, several since."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire.api.leave_group import LeaveGroupRequest
from ..base.call import PARKED, Call, Sentinel
from ..groups.classic.messages import Leaver
from .registry import handles

if TYPE_CHECKING:
    from ..cluster import Cluster


@handles(LeaveGroupRequest)
def leave_group(cluster: Cluster, call: Call, request: LeaveGroupRequest) -> Sentinel:
    if call.version < 3:
        leavers = [Leaver(request.member_id, asked_by=call.client_id)]
    else:
        leavers = [
            Leaver(m.member_id, m.group_instance_id, m.reason or "", call.client_id)
            for m in request.members
        ]
    cluster.groups.at(call.node_id).classic.leave(call, request.group_id, leavers)
    return PARKED
