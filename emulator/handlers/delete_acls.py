"""DeleteAcls (31): remove the access rules that filters fit (semantics I9, M15).

Each filter lists what it fits, also what another one lists. Without an authorizer there are no
rules. What no filter may say at all (type, pattern, operation or permission 0, which stands for
unknown) closes the connection in either case, since 2.8.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.api.delete_acls import DeleteAclsRequest, DeleteAclsResponse
from ..base.call import NO_REPLY, Call, Sentinel
from ..security.authorizer.acl import Acl, AclFilter, delete
from .create_acls import NO_AUTHORIZER
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster

Result = DeleteAclsResponse.FilterResult


@handler(DeleteAclsRequest)
def delete_acls(
    cluster: Cluster, call: Call, request: DeleteAclsRequest
) -> DeleteAclsResponse | Sentinel:
    for each in request.filters if cluster.release.refuses_unknown_acls else ():
        parts = (each.resource_type_filter, each.pattern_type_filter)
        if 0 in (*parts, each.operation, each.permission_type):
            call.close()
            return NO_REPLY
    if cluster.authorizer is None:
        none = Refused(Error.SECURITY_DISABLED, NO_AUTHORIZER)
        return DeleteAclsResponse(filter_results=[_result(none) for _ in request.filters])
    filters = [
        AclFilter(
            each.resource_type_filter,
            each.resource_name_filter,
            each.pattern_type_filter,
            each.principal_filter,
            each.host_filter,
            each.operation,
            each.permission_type,
        )
        for each in request.filters
    ]
    deleted = delete(cluster.authorizer.acls, filters)
    outcomes = deleted.outcomes
    try:
        cluster.metadata.append(deleted.records)
    except Refused as refused:
        outcomes = [refused] * len(outcomes)
    return DeleteAclsResponse(filter_results=[_result(each) for each in outcomes])


def _result(outcome: list[Acl] | Refused) -> Result:
    if isinstance(outcome, Refused):
        return Result(error_code=outcome.error, error_message=outcome.message, matching_acls=[])
    return Result(error_message=None, matching_acls=[_matching(acl) for acl in outcome])


def _matching(acl: Acl) -> Result.MatchingAcl:
    return Result.MatchingAcl(
        error_message=None,
        resource_type=acl.kind,
        resource_name=acl.name,
        pattern_type=acl.pattern,
        principal=acl.principal,
        host=acl.host,
        operation=acl.operation,
        permission_type=acl.permission,
    )
