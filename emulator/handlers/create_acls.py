"""CreateAcls (30): make access rules, each judged by itself (semantics I9, M15).

Without an authorizer there are none. What no filter or rule may say at all (type, pattern,
operation or permission 0, which stands for unknown) closes the connection in either case, since
2.7; before, it is what is said of any (1).
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.api.create_acls import CreateAclsRequest, CreateAclsResponse
from ..base.call import NO_REPLY, Call, Sentinel
from ..base.release import Release
from ..security.authorizer.acl import Acl, create
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster


NO_AUTHORIZER = "No Authorizer is configured."

_ANY, _MATCH = 1, 2

Result = CreateAclsResponse.Result


@handler(CreateAclsRequest)
def create_acls(
    cluster: Cluster, call: Call, request: CreateAclsRequest
) -> CreateAclsResponse | Sentinel:
    if any(_is_unreadable(cluster.release, each) for each in request.creations):
        call.close()
        return NO_REPLY
    if cluster.authorizer is None:
        none = Refused(Error.SECURITY_DISABLED, NO_AUTHORIZER)
        return CreateAclsResponse(results=[_result(none) for _ in request.creations])
    known = [each for each in request.creations if not _is_unknown(each)]
    acls = [acl_of(each) for each in known]
    created = create(cluster.authorizer.acls.values(), acls, lambda: uuid.uuid4().bytes)
    outcomes = created.outcomes
    try:
        cluster.metadata.append(created.records)
    except Refused as refused:
        outcomes = [each or refused for each in outcomes]
    left = iter(outcomes)
    unknown = Refused(Error.INVALID_REQUEST, "A part of the rule is unknown.")
    results = [unknown if _is_unknown(each) else next(left) for each in request.creations]
    return CreateAclsResponse(results=[_result(refused) for refused in results])


def _is_unreadable(release: Release, creation: CreateAclsRequest.Creation) -> bool:
    """Whether a broker does not get as far as to judge the rule."""
    if release.judges_vague_rules:
        return _is_unknown(creation)
    if _ANY in (creation.operation, creation.permission_type):
        return True
    is_vague = creation.resource_type == _ANY or creation.resource_pattern_type in (_ANY, _MATCH)
    return release.has_patterns_of_rules and is_vague


def _is_unknown(creation: CreateAclsRequest.Creation) -> bool:
    parts = (creation.resource_type, creation.resource_pattern_type)
    return 0 in (*parts, creation.operation, creation.permission_type)


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
