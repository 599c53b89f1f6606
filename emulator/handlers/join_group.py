"""JoinGroup (11): become, or remain, a member of a group by the classic protocol. Parked until the
round ends; in a consumer group (KIP-848) answered at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire.api.join_group import JoinGroupRequest
from ..base.call import PARKED, Call, Sentinel
from ..groups.classic.messages import JoinRequest
from .registry import handles

if TYPE_CHECKING:
    from ..cluster import Cluster


@handles(JoinGroupRequest)
def join_group(cluster: Cluster, call: Call, request: JoinGroupRequest) -> Sentinel:
    cluster.groups.at(call.node_id).classic.join(
        call,
        request.group_id,
        JoinRequest(
            version=call.version,
            member_id=request.member_id,
            instance_id=request.group_instance_id,
            client_id=call.client_id,
            client_host=f"/{call.client_host}",
            session_timeout_ms=request.session_timeout_ms,
            rebalance_timeout_ms=request.rebalance_timeout_ms,
            protocol_type=request.protocol_type,
            protocols=tuple((p.name, p.metadata) for p in request.protocols),
        ),
    )
    return PARKED
