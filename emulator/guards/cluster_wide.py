"""What the APIs need that concern the cluster as a whole (semantics M13, M14)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ...wire import Request
from ...wire.api.add_raft_voter import AddRaftVoterRequest
from ...wire.api.alter_client_quotas import AlterClientQuotasRequest
from ...wire.api.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)
from ...wire.api.alter_replica_log_dirs import AlterReplicaLogDirsRequest
from ...wire.api.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
)
from ...wire.api.create_acls import CreateAclsRequest
from ...wire.api.delete_acls import DeleteAclsRequest
from ...wire.api.describe_acls import DescribeAclsRequest
from ...wire.api.describe_client_quotas import DescribeClientQuotasRequest
from ...wire.api.describe_cluster import DescribeClusterRequest
from ...wire.api.describe_log_dirs import DescribeLogDirsRequest
from ...wire.api.describe_quorum import DescribeQuorumRequest
from ...wire.api.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
)
from ...wire.api.elect_leaders import ElectLeadersRequest, ElectLeadersResponse
from ...wire.api.find_coordinator import FindCoordinatorRequest
from ...wire.api.list_config_resources import ListConfigResourcesRequest
from ...wire.api.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from ...wire.api.remove_raft_voter import RemoveRaftVoterRequest
from ...wire.api.unregister_broker import UnregisterBrokerRequest
from ...wire.api.update_features import UpdateFeaturesRequest
from ..control.rules.refusing import levels
from ..security.authorizer.acl import Kind, Operation
from .asking import Authorization, PartlyDenied, Verdict
from .guard import RULES, guards
from .needs import ERRORS, MESSAGES, lacking, needs_cluster, needs_one


def _needs(operation: Operation) -> str:
    """What Kafka says besides the error; there, the request follows, with its connection."""
    return f"Request needs {operation.name} permission."


class _Need(NamedTuple):
    """An operation on the cluster, and what is said without it."""

    operation: Operation
    message: str | None


_FAILED = MESSAGES[Kind.CLUSTER]
_ALTER = _Need(Operation.ALTER, _needs(Operation.ALTER))
_NEEDS: dict[type[Request], _Need] = {
    AddRaftVoterRequest: _Need(Operation.ALTER, _FAILED),
    AlterClientQuotasRequest: _Need(Operation.ALTER_CONFIGS, _FAILED),
    AlterPartitionReassignmentsRequest: _ALTER,
    AlterReplicaLogDirsRequest: _ALTER,
    AlterUserScramCredentialsRequest: _ALTER,
    DescribeLogDirsRequest: _Need(Operation.DESCRIBE, None),
    DescribeQuorumRequest: _Need(Operation.DESCRIBE, _FAILED),
    ElectLeadersRequest: _ALTER,
    ListConfigResourcesRequest: _Need(Operation.DESCRIBE_CONFIGS, None),
    RemoveRaftVoterRequest: _Need(Operation.ALTER, _FAILED),
    UnregisterBrokerRequest: _ALTER,
    UpdateFeaturesRequest: _ALTER,
}
"""APIs that need one operation on the cluster, and nothing else."""


def _of_cluster(asking: Authorization, request: Request) -> Verdict:
    need = _NEEDS[type(request)]
    refusal = needs_cluster(asking, request, need.operation, message=need.message)
    if isinstance(refusal, AlterPartitionReassignmentsResponse | ElectLeadersResponse):
        for part in _partitions(refusal):  # they say it, too
            part.error_message = need.message
    elif isinstance(refusal, AlterUserScramCredentialsResponse):
        refusal.results = list({each.user: each for each in refusal.results}.values())
    return refusal


def _partitions(refusal: Any) -> Iterator[Any]:
    if isinstance(refusal, ElectLeadersResponse):
        return (
            part for topic in refusal.replica_election_results for part in topic.partition_result
        )
    return (part for topic in refusal.responses for part in topic.partitions)


RULES.update({each.api_key: _of_cluster for each in _NEEDS})


@guards(DescribeClientQuotasRequest)
def describe_quotas(asking: Authorization, request: DescribeClientQuotasRequest) -> Verdict:
    refusal: Any = needs_cluster(asking, request, Operation.DESCRIBE_CONFIGS)
    if refusal is not None:
        refusal.error_message = None
    return refusal  # type: ignore[no-any-return]


@guards(ListPartitionReassignmentsRequest)
def list_reassignments(
    asking: Authorization, request: ListPartitionReassignmentsRequest
) -> Verdict:
    """A refusal repeats what was asked for."""
    if asking.may_in_cluster(Operation.DESCRIBE):
        return None
    topic = ListPartitionReassignmentsResponse.Topic
    return ListPartitionReassignmentsResponse(
        error_code=ERRORS[Kind.CLUSTER],
        error_message=_needs(Operation.DESCRIBE),
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


@guards(DescribeUserScramCredentialsRequest)
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


@guards(DescribeAclsRequest)
def describe_acls(asking: Authorization, request: DescribeAclsRequest) -> Verdict:
    """A filter that cannot be closes the connection, whoever asks: the handler does that."""
    if _is_unknown(request.resource_type_filter, request.pattern_type_filter, request):
        return None
    return needs_cluster(asking, request, Operation.DESCRIBE, message=_needs(Operation.DESCRIBE))


@guards(CreateAclsRequest)
def create_acls(asking: Authorization, request: CreateAclsRequest) -> Verdict:
    rules = request.creations
    if any(_is_unknown(r.resource_type, r.resource_pattern_type, r) for r in rules):
        return None
    return needs_cluster(asking, request, Operation.ALTER, message=_needs(Operation.ALTER))


@guards(DeleteAclsRequest)
def delete_acls(asking: Authorization, request: DeleteAclsRequest) -> Verdict:
    filters = request.filters
    if any(_is_unknown(r.resource_type_filter, r.pattern_type_filter, r) for r in filters):
        return None
    return needs_cluster(asking, request, Operation.ALTER, message=_needs(Operation.ALTER))


def _is_unknown(kind: int, pattern: int, rule: Any) -> bool:
    return 0 in (kind, pattern, rule.operation, rule.permission_type)


@guards(DescribeClusterRequest)
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


@guards(FindCoordinatorRequest)
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
    is_denied = lacking(asking, Operation.DESCRIBE, kind)
    level = max(levels(FindCoordinatorRequest, asking.version))
    found = asking.without(request, is_denied, level, ERRORS[kind])
    if found is None:
        return None
    keys = request.coordinator_keys
    places: dict[str, list[int]] = {}
    for number, key in enumerate(keys):
        places.setdefault(key, []).append(number)

    def finish(own: Any) -> None:
        found.finish(own)
        own.coordinators.sort(key=lambda each: places[each.key].pop())

    return PartlyDenied(found.request, finish)
