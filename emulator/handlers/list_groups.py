"""ListGroups (16): the groups there are, by state and type if asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Refused
from ...wire.api.list_groups import ListGroupsRequest, ListGroupsResponse
from ..base.call import Call
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster


@handler(ListGroupsRequest)
def list_groups(cluster: Cluster, call: Call, request: ListGroupsRequest) -> ListGroupsResponse:
    try:
        found = cluster.groups.at(call.node_id).list_groups(
            request.states_filter, request.types_filter
        )
    except Refused as refused:
        return ListGroupsResponse(error_code=refused.error, groups=[])
    return ListGroupsResponse(
        groups=[
            ListGroupsResponse.Group(
                group_id=group.group_id,
                protocol_type=group.protocol_type,
                group_state=group.state,
                group_type=group.type,
            )
            for group in found
        ]
    )
