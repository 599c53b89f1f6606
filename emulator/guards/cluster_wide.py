"""What the APIs need that concern the cluster as a whole (semantics M13, M14)."""

from __future__ import annotations

from typing import Any

from ...wire.api.create_acls import CreateAclsRequest
from ...wire.api.delete_acls import DeleteAclsRequest
from ...wire.api.describe_acls import DescribeAclsRequest
from ...wire.api.describe_cluster import DescribeClusterRequest
from ...wire.api.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
)
from ...wire.api.find_coordinator import FindCoordinatorRequest
from ...wire.api.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from ..security.authorizer.acl import Kind, Operation
from .asking import (
    ERRORS,
    MESSAGES,
    Authorization,
    PartlyDenied,
    Verdict,
    lacking,
    needs_cluster,
    needs_one,
    permission,
)
from .guard import authorize


@authorize(ListPartitionReassignmentsRequest)
def list_reassignments(
    asking: Authorization, request: ListPartitionReassignmentsRequest
) -> Verdict:
    """A refusal repeats what was asked for."""
    if asking.may_in_cluster(Operation.DESCRIBE):
        return None
    topic = ListPartitionReassignmentsResponse.Topic
    return ListPartitionReassignmentsResponse(
        error_code=ERRORS[Kind.CLUSTER],
        error_message=permission(Operation.DESCRIBE),
        topics=[
            topic(
                name=asked.name,
                partitions=[
                    topic.Partition(
                        partition_index=index,
                        replicas=[],
                        adding_replicas=[],
                        removing_replicas=[],
                    )
                    for index in asked.partition_indexes
                ],
            )
            for asked in request.topics or ()
        ],
    )


@authorize(DescribeUserScramCredentialsRequest)
def describe_users(asking: Authorization, request: DescribeUserScramCredentialsRequest) -> Verdict:
    """A refusal names nobody, whomever it was asked for."""
    if asking.may_in_cluster(Operation.DESCRIBE):
        return None
    error = ERRORS[Kind.CLUSTER]
    results = [
        DescribeUserScramCredentialsResponse.Result(
            user="", error_code=error, error_message=None, credential_infos=[]
        )
        for _ in request.users or ()
    ]
    return DescribeUserScramCredentialsResponse(
        error_code=error, error_message=None, results=results
    )


@authorize(DescribeAclsRequest)
def describe_acls(asking: Authorization, request: DescribeAclsRequest) -> Verdict:
    """A filter that cannot be closes the connection, whoever asks: the handler does that."""
    if _is_unknown(request.resource_type_filter, request.pattern_type_filter, request):
        return None
    return needs_cluster(
        asking, request, Operation.DESCRIBE, message=permission(Operation.DESCRIBE)
    )


@authorize(CreateAclsRequest)
def create_acls(asking: Authorization, request: CreateAclsRequest) -> Verdict:
    rules = request.creations
    if any(_is_unknown(r.resource_type, r.resource_pattern_type, r) for r in rules):
        return None
    return needs_cluster(asking, request, Operation.ALTER, message=permission(Operation.ALTER))


@authorize(DeleteAclsRequest)
def delete_acls(asking: Authorization, request: DeleteAclsRequest) -> Verdict:
    filters = request.filters
    if any(_is_unknown(r.resource_type_filter, r.pattern_type_filter, r) for r in filters):
        return None
    return needs_cluster(asking, request, Operation.ALTER, message=permission(Operation.ALTER))


def _is_unknown(kind: int, pattern: int, rule: Any) -> bool:
    return 0 in (kind, pattern, rule.operation, rule.permission_type)


@authorize(DescribeClusterRequest)
def describe_cluster(asking: Authorization, request: DescribeClusterRequest) -> Verdict:
    """The brokers are shown to anybody; only what the client may do differs."""
    if not request.include_cluster_authorized_operations:
        return None

    def finish(own: Any) -> None:
        if not own.error_code:
            own.cluster_authorized_operations = asking.cluster_bits()

    return PartlyDenied(request, finish)


_GROUP, _TRANSACTION, _SHARE = 0, 1, 2
_MANY_SINCE, _SHARE_SINCE = 4, 6


@authorize(FindCoordinatorRequest)
def find_coordinator(asking: Authorization, request: FindCoordinatorRequest) -> Verdict:
    """Only brokers ask where share groups keep their state."""
    kinds = {_GROUP: Kind.GROUP, _TRANSACTION: Kind.TRANSACTIONAL_ID}
    if request.key_type == _SHARE and asking.version >= _SHARE_SINCE:
        return needs_cluster(asking, request, Operation.CLUSTER_ACTION)
    kind = kinds.get(request.key_type)
    if kind is None:
        return None
    if asking.version < _MANY_SINCE:
        key, message = request.key, MESSAGES[kind]
        return needs_one(asking, request, Operation.DESCRIBE, kind, key, message)
    return asking.without(request, lacking(asking, Operation.DESCRIBE, kind))
