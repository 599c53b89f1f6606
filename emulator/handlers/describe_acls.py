"""DescribeAcls (29): the access rules that a filter fits, by resource (semantics I9, M15).

Without an authorizer there are none. What no filter may say at all (type, pattern, operation or
permission 0, which stands for unknown) closes the connection in either case, since 2.8.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error
from ...wire.api.describe_acls import DescribeAclsRequest, DescribeAclsResponse
from ..base.call import NO_REPLY, Call, Sentinel
from ..security.authorizer.acl import AclFilter
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster

Resource = DescribeAclsResponse.Resource


@handler(DescribeAclsRequest)
def describe_acls(
    cluster: Cluster, call: Call, request: DescribeAclsRequest
) -> DescribeAclsResponse | Sentinel:
    parts = (request.resource_type_filter, request.pattern_type_filter)
    is_unknown = 0 in (*parts, request.operation, request.permission_type)
    if is_unknown and cluster.release.refuses_unknown_acls:
        call.close()
        return NO_REPLY
    if cluster.authorizer is None:
        return DescribeAclsResponse(
            error_code=Error.SECURITY_DISABLED,
            error_message="No Authorizer is configured on the broker",
            resources=[],
        )
    wanted = AclFilter(
        request.resource_type_filter,
        request.resource_name_filter,
        request.pattern_type_filter,
        request.principal_filter,
        request.host_filter,
        request.operation,
        request.permission_type,
    )
    resources: dict[tuple[int, str, int], Resource] = {}
    for acl in filter(wanted.fits, cluster.authorizer.acls.values()):
        key = (acl.kind, acl.name, acl.pattern)
        if key not in resources:
            resources[key] = Resource(
                resource_type=acl.kind, resource_name=acl.name, pattern_type=acl.pattern, acls=[]
            )
        resources[key].acls.append(
            Resource.Acl(
                principal=acl.principal,
                host=acl.host,
                operation=acl.operation,
                permission_type=acl.permission,
            )
        )
    return DescribeAclsResponse(error_message="", resources=list(resources.values()))
