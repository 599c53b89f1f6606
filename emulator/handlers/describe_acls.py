"""DescribeAcls (29): there is no authorizer, and so no access rules (semantics I9).

Only what no filter or rule may say at all (type, pattern, operation or permission 0, which stands
for unknown) is told from the rest: it closes the connection.

Not emulated: an authorizer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error
from ...wire.api.describe_acls import DescribeAclsRequest, DescribeAclsResponse
from ..base.call import NO_REPLY, Call, Sentinel
from .registry import handles

if TYPE_CHECKING:
    from ..cluster import Cluster


@handles(DescribeAclsRequest)
def describe_acls(
    cluster: Cluster, call: Call, request: DescribeAclsRequest
) -> DescribeAclsResponse | Sentinel:
    parts = (request.resource_type_filter, request.pattern_type_filter)
    if 0 in (*parts, request.operation, request.permission_type):
        call.close()
        return NO_REPLY
    return DescribeAclsResponse(
        error_code=Error.SECURITY_DISABLED,
        error_message="No Authorizer is configured on the broker",
        resources=[],
    )
