"""What may differ between clusters, and after which requests there is nothing to wait for."""

from __future__ import annotations

from odradek.wire import Request
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.describe_cluster import DescribeClusterRequest
from odradek.wire.api.describe_configs import DescribeConfigsRequest
from odradek.wire.api.describe_groups import DescribeGroupsRequest
from odradek.wire.api.describe_producers import DescribeProducersRequest
from odradek.wire.api.describe_topic_partitions import DescribeTopicPartitionsRequest
from odradek.wire.api.describe_transactions import DescribeTransactionsRequest
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.heartbeat import HeartbeatRequest
from odradek.wire.api.list_groups import ListGroupsRequest
from odradek.wire.api.list_offsets import ListOffsetsRequest
from odradek.wire.api.list_partition_reassignments import ListPartitionReassignmentsRequest
from odradek.wire.api.list_transactions import ListTransactionsRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.offset_fetch import OffsetFetchRequest
from odradek.wire.api.offset_for_leader_epoch import OffsetForLeaderEpochRequest

from ..engine.compare import Difference
from .allowance import Allowed
from .kafka_4_3 import ALLOWED

_EPOCH_IN_A_MARKER = slice(-5, -1)
"""Where the bytes of a control record have the coordinator epoch."""


def _is_coordinator_epoch(request: FetchRequest, difference: Difference) -> bool:
    real, ours = difference.real, difference.ours
    if not (isinstance(real, bytes) and isinstance(ours, bytes) and len(real) == len(ours)):
        return False
    without = [bytearray(each) for each in (real, ours)]
    for each in without:
        each[_EPOCH_IN_A_MARKER] = bytes(4)
    return without[0] == without[1]


MARKER_EPOCH = Allowed(
    "the coordinator epoch in a marker",
    FetchRequest,
    "responses.records.payload",
    "it is the leader epoch of a partition of __transaction_state, whose leader a real cluster may"
    " have changed once more before the two were made alike",
    _is_coordinator_epoch,
)
PRODUCER_EPOCH = Allowed(
    "the coordinator epoch of a producer",
    DescribeProducersRequest,
    "topics.partitions.active_producers.coordinator_epoch",
    "as in a marker",
)
ALLOWED_OF_CLUSTERS: tuple[Allowed, ...] = (*ALLOWED, MARKER_EPOCH, PRODUCER_EPOCH)
"""What may differ between clusters."""
CHANGES_NOTHING: tuple[type[Request], ...] = (
    ApiVersionsRequest,
    DescribeClusterRequest,
    DescribeConfigsRequest,
    DescribeGroupsRequest,
    DescribeProducersRequest,
    DescribeTopicPartitionsRequest,
    DescribeTransactionsRequest,
    FetchRequest,
    FindCoordinatorRequest,
    HeartbeatRequest,
    ListGroupsRequest,
    ListOffsetsRequest,
    ListPartitionReassignmentsRequest,
    ListTransactionsRequest,
    MetadataRequest,
    OffsetFetchRequest,
    OffsetForLeaderEpochRequest,
)
"""Requests that leave a cluster as it is."""
