"""DeleteAcls (31): there is no authorizer, and so no access rules (semantics I9).

Only what no filter or rule may say at all (type, pattern, operation or permission 0, which stands
for unknown) is told from the rest: it closes the connection.

Not emulated: an authorizer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error
from ...wire.api.delete_acls import DeleteAclsRequest, DeleteAclsResponse
from ..base.call import NO_REPLY, Call, Sentinel
from .create_acls import NO_AUTHORIZER
from .registry import handles

if TYPE_CHECKING:
    from ..cluster import Cluster


@handles(DeleteAclsRequest)
def delete_acls(
    cluster: Cluster, call: Call, request: DeleteAclsRequest
) -> DeleteAclsResponse | Sentinel:
    for each in request.filters:
        parts = (each.resource_type_filter, each.pattern_type_filter)
        if 0 in (*parts, each.operation, each.permission_type):
            call.close()
            return NO_REPLY
    return DeleteAclsResponse(
        filter_results=[
            DeleteAclsResponse.FilterResult(
                error_code=Error.SECURITY_DISABLED, error_message=NO_AUTHORIZER, matching_acls=[]
            )
            for _ in request.filters
        ]
    )
