"""LeaveGroup (13): members leave, by id or by instance; one before v3, several since."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire.api.leave_group import LeaveGroupRequest
from ..base.call import PARKED, Call, Sentinel
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster


@handler(LeaveGroupRequest)
def leave_group(cluster: Cluster, call: Call, request: LeaveGroupRequest) -> Sentinel:
    cluster.groups.at(call.node_id).classic.leave(call, request)
    return PARKED
