"""CreateAcls (30): make access rules, each judged by itself (semantics I9, M15).

Without an authorizer there are none. What no filter or rule may say at all (type, pattern,
operation or permission 0, which stands for unknown) closes the connection in either case.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.api.create_acls import CreateAclsRequest, CreateAclsResponse
from ..base.call import NO_REPLY, Call, Sentinel
from ..security.authorizer.acl import Acl, create
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster


NO_AUTHORIZER = "No Authorizer is configured."

Result = CreateAclsResponse.Result


@handler(CreateAclsRequest)
def create_acls(
    cluster: Cluster, call: Call, request: CreateAclsRequest
) -> CreateAclsResponse | Sentinel:
    for each in request.creations:
        parts = (each.resource_type, each.resource_pattern_type)
        if 0 in (*parts, each.operation, each.permission_type):
            call.close()
            return NO_REPLY
    if cluster.authorizer is None:
        none = Refused(Error.SECURITY_DISABLED, NO_AUTHORIZER)
        return CreateAclsResponse(results=[_result(none) for _ in request.creations])
    acls = [acl_of(each) for each in request.creations]
    created = create(cluster.authorizer.acls.values(), acls, lambda: uuid.uuid4().bytes)
    outcomes = created.outcomes
    try:
        cluster.metadata.append(created.records)
    except Refused as refused:
        outcomes = [each or refused for each in outcomes]
    return CreateAclsResponse(results=[_result(refused) for refused in outcomes])


def acl_of(creation: CreateAclsRequest.Creation) -> Acl:
    return Acl(
        creation.resource_type,
        creation.resource_name,
        creation.resource_pattern_type,
        creation.principal,
        creation.host,
        creation.operation,
        creation.permission_type,
    )


def _result(refused: Refused | None) -> Result:
    if refused is None:
        return Result(error_code=Error.NONE, error_message="")
    return Result(error_code=refused.error, error_message=refused.message)
