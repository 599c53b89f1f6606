"""SyncGroup (14): the leader hands out the assignments, the others wait for theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire.api.sync_group import SyncGroupRequest
from ..base.call import PARKED, Call, Sentinel
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster


@handler(SyncGroupRequest)
def sync_group(cluster: Cluster, call: Call, request: SyncGroupRequest) -> Sentinel:
    cluster.groups.at(call.node_id).classic.sync(call, request)
    return PARKED
