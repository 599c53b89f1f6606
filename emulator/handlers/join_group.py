"""JoinGroup (11): become, or remain, a member of a group by the classic protocol. Parked until the
round ends; in a consumer group (KIP-848) answered at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire.api.join_group import JoinGroupRequest
from ..base.call import PARKED, Call, Sentinel
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster


@handler(JoinGroupRequest)
def join_group(cluster: Cluster, call: Call, request: JoinGroupRequest) -> Sentinel:
    cluster.groups.at(call.node_id).classic.join(call, request)
    return PARKED
