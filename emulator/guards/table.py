"""The APIs that need plain rights: a table. What one may not do refuses all of the request, or the
part of it that names the resource; the needs of an API are asked in their order (semantics M13).

APIs that need more than that have functions in the modules beside this one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from ...wire import Refused, Request
from ...wire.api.add_offsets_to_txn import AddOffsetsToTxnRequest
from ...wire.api.add_raft_voter import AddRaftVoterRequest
from ...wire.api.alter_client_quotas import AlterClientQuotasRequest
from ...wire.api.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from ...wire.api.alter_replica_log_dirs import AlterReplicaLogDirsRequest
from ...wire.api.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from ...wire.api.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from ...wire.api.delete_records import DeleteRecordsRequest
from ...wire.api.delete_share_group_state import DeleteShareGroupStateRequest
from ...wire.api.describe_client_quotas import DescribeClientQuotasRequest
from ...wire.api.describe_log_dirs import DescribeLogDirsRequest
from ...wire.api.describe_quorum import DescribeQuorumRequest
from ...wire.api.elect_leaders import ElectLeadersRequest
from ...wire.api.end_txn import EndTxnRequest
from ...wire.api.heartbeat import HeartbeatRequest
from ...wire.api.initialize_share_group_state import InitializeShareGroupStateRequest
from ...wire.api.join_group import JoinGroupRequest
from ...wire.api.leave_group import LeaveGroupRequest
from ...wire.api.list_config_resources import ListConfigResourcesRequest
from ...wire.api.offset_commit import OffsetCommitRequest
from ...wire.api.offset_delete import OffsetDeleteRequest
from ...wire.api.read_share_group_state import ReadShareGroupStateRequest
from ...wire.api.read_share_group_state_summary import ReadShareGroupStateSummaryRequest
from ...wire.api.remove_raft_voter import RemoveRaftVoterRequest
from ...wire.api.share_group_heartbeat import ShareGroupHeartbeatRequest
from ...wire.api.streams_group_heartbeat import StreamsGroupHeartbeatRequest
from ...wire.api.txn_offset_commit import TxnOffsetCommitRequest
from ...wire.api.unregister_broker import UnregisterBrokerRequest
from ...wire.api.update_features import UpdateFeaturesRequest
from ...wire.api.write_share_group_state import WriteShareGroupStateRequest
from ...wire.api.write_txn_markers import WriteTxnMarkersRequest
from ..handlers.share_acknowledgements import check_member_id
from ..handlers.streams_group_heartbeat import check_topics, required_topics
from ..security.authorizer.acl import Kind, Operation
from .asking import (
    ERRORS,
    MESSAGES,
    Authorization,
    Verdict,
    lacking,
    needs_cluster,
    needs_one,
    permission,
)
from .guard import RULES

Need: TypeAlias = Callable[[Authorization, Any], Verdict]


def one(operation: Operation, kind: Kind, field: str) -> Need:
    """An operation on the resource in a field; else all of the request is refused."""
    return lambda asking, request: needs_one(
        asking, request, operation, kind, getattr(request, field)
    )


def cluster(
    *operations: Operation,
    message: str | None = None,
    shape: Callable[[Any], None] = lambda refusal: None,
) -> Need:
    """One of these operations on the cluster. `shape` makes the refusal what Kafka's is."""

    def need(asking: Authorization, request: Request) -> Verdict:
        refusal = needs_cluster(asking, request, *operations, message=message)
        if refusal is not None:
            shape(refusal)
        return refusal

    return need


def each(operation: Operation, kind: Kind) -> Need:
    """An operation on each resource; what lacks it is taken out, and refused in its part of the
    answer."""
    return lambda asking, request: asking.without(request, lacking(asking, operation, kind))


def all_topics(
    operation: Operation,
    names_of: Callable[[Any], Iterable[str]],
    check: Callable[[Any], None] = lambda request: None,
) -> Need:
    """An operation on all of these topics; else all of the request is refused. What `check` refuses
    is left to the handler, which says so first."""

    def need(asking: Authorization, request: Request) -> Verdict:
        try:
            check(request)
        except Refused:
            return None
        names = dict.fromkeys(names_of(request))
        if len(asking.allowed(operation, Kind.TOPIC, names)) < len(names):
            return asking.refuse(request, ERRORS[Kind.TOPIC])  # type: ignore[no-any-return]
        return None

    return need


def _subscribed(request: Any) -> Iterable[str]:
    return request.subscribed_topic_names or ()


def _also_in_partitions(refusal: Any) -> None:
    """The partitions say it, too."""
    for topic in refusal.responses:
        for part in topic.partitions:
            part.error_message = permission(Operation.ALTER)


def _also_in_elections(refusal: Any) -> None:
    for topic in refusal.replica_election_results:
        for part in topic.partition_result:
            part.error_message = permission(Operation.ALTER)


def _each_user_once(refusal: Any) -> None:
    refusal.results = list({each.user: each for each in refusal.results}.values())


def _without_message(refusal: Any) -> None:
    refusal.error_message = None


_FAILED = MESSAGES[Kind.CLUSTER]
_ALTER = permission(Operation.ALTER)
_MEMBER = one(Operation.READ, Kind.GROUP, "group_id")
_PRODUCER = one(Operation.WRITE, Kind.TRANSACTIONAL_ID, "transactional_id")
_BROKER = cluster(Operation.CLUSTER_ACTION, message=_FAILED)

TABLE: dict[type[Request], tuple[Need, ...]] = {
    # The cluster
    AddRaftVoterRequest: (cluster(Operation.ALTER, message=_FAILED),),
    AlterClientQuotasRequest: (cluster(Operation.ALTER_CONFIGS, message=_FAILED),),
    AlterPartitionReassignmentsRequest: (
        cluster(Operation.ALTER, message=_ALTER, shape=_also_in_partitions),
    ),
    AlterReplicaLogDirsRequest: (cluster(Operation.ALTER, message=_ALTER),),
    AlterUserScramCredentialsRequest: (
        cluster(Operation.ALTER, message=_ALTER, shape=_each_user_once),
    ),
    DescribeClientQuotasRequest: (cluster(Operation.DESCRIBE_CONFIGS, shape=_without_message),),
    DescribeLogDirsRequest: (cluster(Operation.DESCRIBE),),
    DescribeQuorumRequest: (cluster(Operation.DESCRIBE, message=_FAILED),),
    ElectLeadersRequest: (cluster(Operation.ALTER, message=_ALTER, shape=_also_in_elections),),
    ListConfigResourcesRequest: (cluster(Operation.DESCRIBE_CONFIGS),),
    RemoveRaftVoterRequest: (cluster(Operation.ALTER, message=_FAILED),),
    UnregisterBrokerRequest: (cluster(Operation.ALTER, message=_ALTER),),
    UpdateFeaturesRequest: (cluster(Operation.ALTER, message=_ALTER),),
    WriteTxnMarkersRequest: (cluster(Operation.ALTER, Operation.CLUSTER_ACTION),),
    # To keep the state of share groups, one is a broker
    InitializeShareGroupStateRequest: (_BROKER,),
    ReadShareGroupStateRequest: (_BROKER,),
    ReadShareGroupStateSummaryRequest: (_BROKER,),
    WriteShareGroupStateRequest: (_BROKER,),
    DeleteShareGroupStateRequest: (_BROKER,),
    # Members of groups
    JoinGroupRequest: (_MEMBER,),
    HeartbeatRequest: (_MEMBER,),
    LeaveGroupRequest: (_MEMBER,),
    OffsetCommitRequest: (_MEMBER, each(Operation.READ, Kind.TOPIC)),
    OffsetDeleteRequest: (
        one(Operation.DELETE, Kind.GROUP, "group_id"),
        each(Operation.READ, Kind.TOPIC),
    ),
    ConsumerGroupHeartbeatRequest: (_MEMBER, all_topics(Operation.DESCRIBE, _subscribed)),
    ShareGroupHeartbeatRequest: (
        _MEMBER,
        all_topics(
            *(Operation.DESCRIBE, _subscribed), lambda request: check_member_id(request.member_id)
        ),
    ),
    # The right to create internal topics is asked for where they are created
    # (handlers/streams_internal_topics.py): without it the member learns so, and stays.
    StreamsGroupHeartbeatRequest: (
        _MEMBER,
        all_topics(
            *(Operation.DESCRIBE, required_topics),
            lambda request: check_topics(required_topics(request)),
        ),
    ),
    # Producers
    AddOffsetsToTxnRequest: (_PRODUCER, _MEMBER),
    EndTxnRequest: (_PRODUCER,),
    TxnOffsetCommitRequest: (_PRODUCER, _MEMBER, each(Operation.READ, Kind.TOPIC)),
    DeleteRecordsRequest: (each(Operation.DELETE, Kind.TOPIC),),
}


def _by_the_table(asking: Authorization, request: Request) -> Verdict:
    for need in TABLE[type(request)]:
        verdict = need(asking, request)
        if verdict is not None:
            return verdict
    return None


RULES.update({request.api_key: _by_the_table for request in TABLE})
