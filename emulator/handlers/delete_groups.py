"""DeleteGroups (42): groups without members, and all that they have committed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire.api.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from ..base.call import Call
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster


@handler(DeleteGroupsRequest)
def delete_groups(
    cluster: Cluster, call: Call, request: DeleteGroupsRequest
) -> DeleteGroupsResponse:
    return DeleteGroupsResponse(
        results=[
            DeleteGroupsResponse.Result(group_id=group_id, error_code=error)
            for group_id, error in cluster.groups.at(call.node_id).delete(request.groups_names)
        ]
    )
