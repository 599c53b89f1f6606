"""The lists in answers whose order says nothing: Kafka keeps them in hash maps, or gathers them
from several places. They are sorted before they are compared, or compared by their entries' names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from odradek.wire import Error, Request
from odradek.wire.api.add_partitions_to_txn import AddPartitionsToTxnRequest
from odradek.wire.api.alter_client_quotas import AlterClientQuotasRequest
from odradek.wire.api.alter_configs import AlterConfigsRequest
from odradek.wire.api.alter_replica_log_dirs import AlterReplicaLogDirsRequest
from odradek.wire.api.alter_share_group_offsets import AlterShareGroupOffsetsRequest
from odradek.wire.api.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.consumer_group_describe import ConsumerGroupDescribeRequest
from odradek.wire.api.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from odradek.wire.api.create_partitions import CreatePartitionsRequest
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.delete_acls import DeleteAclsRequest
from odradek.wire.api.delete_groups import DeleteGroupsRequest
from odradek.wire.api.delete_records import DeleteRecordsRequest
from odradek.wire.api.delete_share_group_offsets import DeleteShareGroupOffsetsRequest
from odradek.wire.api.delete_share_group_state import DeleteShareGroupStateRequest
from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.describe_acls import DescribeAclsRequest
from odradek.wire.api.describe_client_quotas import DescribeClientQuotasRequest
from odradek.wire.api.describe_configs import DescribeConfigsRequest
from odradek.wire.api.describe_groups import DescribeGroupsRequest
from odradek.wire.api.describe_log_dirs import DescribeLogDirsRequest
from odradek.wire.api.describe_producers import DescribeProducersRequest
from odradek.wire.api.describe_share_group_offsets import DescribeShareGroupOffsetsRequest
from odradek.wire.api.describe_topic_partitions import DescribeTopicPartitionsRequest
from odradek.wire.api.describe_transactions import DescribeTransactionsRequest
from odradek.wire.api.describe_user_scram_credentials import DescribeUserScramCredentialsRequest
from odradek.wire.api.elect_leaders import ElectLeadersRequest
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.initialize_share_group_state import InitializeShareGroupStateRequest
from odradek.wire.api.join_group import JoinGroupRequest
from odradek.wire.api.list_config_resources import ListConfigResourcesRequest
from odradek.wire.api.list_groups import ListGroupsRequest
from odradek.wire.api.list_offsets import ListOffsetsRequest
from odradek.wire.api.list_transactions import ListTransactionsRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.offset_commit import OffsetCommitRequest
from odradek.wire.api.offset_fetch import OffsetFetchRequest
from odradek.wire.api.produce import ProduceRequest
from odradek.wire.api.read_share_group_state import ReadShareGroupStateRequest
from odradek.wire.api.read_share_group_state_summary import ReadShareGroupStateSummaryRequest
from odradek.wire.api.share_acknowledge import ShareAcknowledgeRequest
from odradek.wire.api.share_fetch import ShareFetchRequest
from odradek.wire.api.share_group_describe import ShareGroupDescribeRequest
from odradek.wire.api.share_group_heartbeat import ShareGroupHeartbeatRequest
from odradek.wire.api.streams_group_describe import StreamsGroupDescribeRequest
from odradek.wire.api.streams_group_heartbeat import StreamsGroupHeartbeatRequest
from odradek.wire.api.update_features import UpdateFeaturesRequest
from odradek.wire.api.write_share_group_state import WriteShareGroupStateRequest
from odradek.wire.api.write_txn_markers import WriteTxnMarkersRequest


def _always(request: Request) -> bool:
    return True


@dataclass(frozen=True)
class Unordered:
    """Why a list has no order, and for which requests. With `keeps_good` only entries that do not
    exist have none: the others keep theirs, and come first."""

    reason: str
    keeps_good: bool = False
    applies: Callable[[Any], bool] = _always


DOES_NOT_EXIST = {
    Error.UNKNOWN_TOPIC_OR_PARTITION,
    Error.INVALID_TOPIC_EXCEPTION,
    Error.UNKNOWN_TOPIC_ID,
    Error.INCONSISTENT_TOPIC_ID,
    Error.TOPIC_AUTHORIZATION_FAILED,
    Error.REPLICA_NOT_AVAILABLE,
}
"""Errors of entries that do not exist, or may not be seen."""


def _asks_for_all(request: OffsetFetchRequest) -> bool:
    """Whether it asks for whatever the group has committed."""
    return request.topics is None or any(group.topics is None for group in request.groups)


_HASHED = Unordered("the answer is put together in a hash map")
_REFUSED = Unordered("entries that are refused at once are gathered in a hash map", keeps_good=True)
_STORED = Unordered("committed offsets are kept in hash maps", applies=_asks_for_all)
_SHARDED = Unordered("each partition of the coordinator is asked for its groups")
_SALTED = Unordered("an immutable map of Java, whose order is drawn when the process begins")
_HASHED_UNTIL_3_9 = Unordered("up to 3.9 they are gathered in a hash set")


def _hashed(*places: str) -> dict[str, Unordered]:
    return dict.fromkeys(places, _HASHED)


UNORDERED: dict[type[Request], dict[str, Unordered]] = {
    AddPartitionsToTxnRequest: _hashed(
        "results_by_topic_v3_and_below",
        "results_by_topic_v3_and_below.results_by_partition",
        "results_by_transaction.topic_results",
        "results_by_transaction.topic_results.results_by_partition",
    ),
    AlterClientQuotasRequest: _hashed("entries", "entries.entity"),
    AlterConfigsRequest: _hashed("responses"),
    AlterReplicaLogDirsRequest: _hashed("results", "results.partitions"),
    AlterUserScramCredentialsRequest: _hashed("results"),
    ConsumerGroupDescribeRequest: {
        "groups": _SHARDED,
        "groups.members": _HASHED,
        "groups.members.subscribed_topic_names": _HASHED,
        "groups.members.assignment.topic_partitions": _HASHED,
        "groups.members.assignment.topic_partitions.partitions": _HASHED,
        "groups.members.target_assignment.topic_partitions": _HASHED,
        "groups.members.target_assignment.topic_partitions.partitions": _HASHED,
    },
    ConsumerGroupHeartbeatRequest: _hashed(
        "assignment.topic_partitions", "assignment.topic_partitions.partitions"
    ),
    CreatePartitionsRequest: _hashed("results"),
    CreateTopicsRequest: _hashed("topics"),
    DeleteAclsRequest: _hashed("filter_results.matching_acls"),
    DeleteGroupsRequest: {"results": _SHARDED},
    DeleteRecordsRequest: _hashed("topics", "topics.partitions"),
    DeleteTopicsRequest: _hashed("responses"),
    DescribeAclsRequest: _hashed("resources", "resources.acls"),
    DescribeClientQuotasRequest: _hashed("entries", "entries.entity", "entries.values"),
    DescribeGroupsRequest: {
        "groups": _SHARDED,
        "groups.members": _HASHED,
    },
    DescribeLogDirsRequest: _hashed("results.topics", "results.topics.partitions"),
    DescribeProducersRequest: _hashed("topics.partitions.active_producers"),
    DescribeTransactionsRequest: _hashed(
        "transaction_states.topics", "transaction_states.topics.partitions"
    ),
    DescribeUserScramCredentialsRequest: _hashed("results", "results.credential_infos"),
    DescribeTopicPartitionsRequest: {"topics": _REFUSED},
    ElectLeadersRequest: _hashed(
        "replica_election_results", "replica_election_results.partition_result"
    ),
    FetchRequest: {"responses": _REFUSED},
    JoinGroupRequest: _hashed("members"),
    ListConfigResourcesRequest: _hashed("config_resources"),
    ListGroupsRequest: {"groups": _SHARDED},
    ListOffsetsRequest: _hashed("topics", "topics.partitions"),
    ListTransactionsRequest: _hashed("unknown_state_filters"),
    MetadataRequest: {
        "topics": _REFUSED,
        "topics.partitions": _HASHED_UNTIL_3_9,
    },
    OffsetFetchRequest: {
        "topics": _STORED,
        "topics.partitions": _STORED,
        "groups.topics": _STORED,
        "groups.topics.partitions": _STORED,
    },
    ProduceRequest: _hashed("responses", "responses.partition_responses"),
    AlterShareGroupOffsetsRequest: _hashed("responses", "responses.partitions"),
    DeleteShareGroupOffsetsRequest: _hashed("responses"),
    DeleteShareGroupStateRequest: _hashed("results", "results.partitions"),
    DescribeShareGroupOffsetsRequest: _hashed("groups.topics", "groups.topics.partitions"),
    InitializeShareGroupStateRequest: _hashed("results", "results.partitions"),
    ReadShareGroupStateRequest: _hashed("results", "results.partitions"),
    ReadShareGroupStateSummaryRequest: _hashed("results", "results.partitions"),
    ShareAcknowledgeRequest: _hashed("responses", "responses.partitions"),
    ShareFetchRequest: _hashed("responses", "responses.partitions"),
    ShareGroupDescribeRequest: {
        "groups": _SHARDED,
        "groups.members": _HASHED,
        "groups.members.subscribed_topic_names": _HASHED,
        "groups.members.assignment.topic_partitions": _HASHED,
        "groups.members.assignment.topic_partitions.partitions": _HASHED,
    },
    ShareGroupHeartbeatRequest: _hashed(
        "assignment.topic_partitions", "assignment.topic_partitions.partitions"
    ),
    StreamsGroupDescribeRequest: {
        "groups": _SHARDED,
        "groups.members": _HASHED,
    },
    StreamsGroupHeartbeatRequest: {
        "partitions_by_user_endpoint.active_partitions": _SALTED,
        "partitions_by_user_endpoint.active_partitions.partitions": _HASHED,
        "partitions_by_user_endpoint.standby_partitions.partitions": _HASHED,
    },
    WriteShareGroupStateRequest: _hashed("results", "results.partitions"),
    UpdateFeaturesRequest: _hashed("results"),
    WriteTxnMarkersRequest: _hashed("markers", "markers.topics", "markers.topics.partitions"),
}
"""By the request of the API and the path of the list in its answer."""

HASHED_UNTIL_2_4: dict[type[Request], dict[str, Unordered]] = {
    DescribeConfigsRequest: {"results": Unordered("they are gathered by their addresses")}
}
"""The same where brokers are of 2.4 or before."""

HASHED_BEFORE_0_9: dict[type[Request], dict[str, Unordered]] = {
    FetchRequest: _hashed("responses"),
    ListOffsetsRequest: _hashed("topics", "topics.partitions"),
    MetadataRequest: _hashed("topics", "topics.partitions"),
    OffsetCommitRequest: _hashed("topics", "topics.partitions"),
    OffsetFetchRequest: _hashed("topics", "topics.partitions"),
    ProduceRequest: _hashed("responses", "responses.partition_responses"),
}
"""The same where they are of 0.8, which gathers all that is asked for in maps of Scala."""

KEYED: dict[type[Request], dict[str, str]] = {
    ApiVersionsRequest: {
        "api_keys": "api_key",
        "supported_features": "name",
        "finalized_features": "name",
    },
    CreateTopicsRequest: {"topics.configs": "name"},
    DescribeConfigsRequest: {"results.configs": "name"},
}
"""Lists whose entries have names and that come in the order of a hash map: the field that names an
entry, by the request of the API and the path of the list."""
