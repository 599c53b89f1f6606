"""CreateAcls (30): there is no authorizer, and so no access rules (semantics I9).

Only what no filter or rule may say at all (type, pattern, operation or permission 0, which stands
for unknown) is told from the rest: it closes the connection.

Not emulated: an authorizer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error
from ...wire.api.create_acls import CreateAclsRequest, CreateAclsResponse
from ..base.call import NO_REPLY, Call, Sentinel
from .registry import handles

if TYPE_CHECKING:
    from ..cluster import Cluster


NO_AUTHORIZER = "No Authorizer is configured."


@handles(CreateAclsRequest)
def create_acls(
    cluster: Cluster, call: Call, request: CreateAclsRequest
) -> CreateAclsResponse | Sentinel:
    for each in request.creations:
        parts = (each.resource_type, each.resource_pattern_type)
        if 0 in (*parts, each.operation, each.permission_type):
            call.close()
            return NO_REPLY
    return CreateAclsResponse(
        results=[
            CreateAclsResponse.Result(
                error_code=Error.SECURITY_DISABLED, error_message=NO_AUTHORIZER
            )
            for _ in request.creations
        ]
    )
