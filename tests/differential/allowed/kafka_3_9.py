"""What may differ from a real Kafka 3.9 beyond what may differ from 4.3.

What old clients send and get is compared field by field; so is every request in its lowest
versions. But a 3.9 node keeps its groups with another coordinator (Scala's, gone in 4.0) than the
one that the emulator follows, and has other words for some refusals.
"""

from __future__ import annotations

from odradek.emulator.config.broker_table import UNLISTED
from odradek.wire import Error, Request
from odradek.wire.api.alter_configs import AlterConfigsRequest
from odradek.wire.api.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from odradek.wire.api.delete_groups import DeleteGroupsRequest
from odradek.wire.api.describe_configs import DescribeConfigsRequest
from odradek.wire.api.describe_groups import DescribeGroupsRequest
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.incremental_alter_configs import IncrementalAlterConfigsRequest
from odradek.wire.api.join_group import JoinGroupRequest
from odradek.wire.api.list_groups import ListGroupsRequest
from odradek.wire.api.offset_commit import OffsetCommitRequest
from odradek.wire.api.offset_delete import OffsetDeleteRequest
from odradek.wire.api.offset_fetch import OffsetFetchRequest
from odradek.wire.api.produce import ProduceRequest
from odradek.wire.api.sync_group import SyncGroupRequest
from odradek.wire.api.txn_offset_commit import TxnOffsetCommitRequest
from odradek.wire.api.unregister_broker import UnregisterBrokerRequest

from ..ask.configs import BROKER, LOGGER, METRICS, TOPIC
from ..engine.compare import Difference
from ..engine.results import api_name
from .allowance import Allowed, are_lists, is_missing
from .recompressed import asks_for_too_much, is_cut_elsewhere

_OPERATIONS_OF_A_GROUP = 328
"""The operations on a group that 3.9 knows, as the bits of `authorized_operations`."""
_KINDS_OF_CONFIGS = (TOPIC, BROKER, LOGGER, METRICS)


def _is_message(request: object, difference: Difference) -> bool:
    return difference.place.endswith("message")


def _was_closed(request: FetchRequest, difference: Difference) -> bool:
    is_by_name = any(topic.topic for topic in request.topics)
    return is_by_name and (difference.real == "closed" or is_missing(difference.real))


def _is_shown_less(request: DescribeGroupsRequest, difference: Difference) -> bool:
    is_named_only = (difference.real, difference.ours) == ("Empty", "Dead")
    return difference.real in (b"", _OPERATIONS_OF_A_GROUP) or is_named_only


def _is_order(request: object, difference: Difference) -> bool:
    return difference.place.endswith("partition_index") or difference.place == "topics.name"


def _is_no_group_of_a_generation(request: OffsetCommitRequest, difference: Difference) -> bool:
    codes = (Error.UNKNOWN_MEMBER_ID, Error.ILLEGAL_GENERATION)
    return (difference.real, difference.ours) == codes


def _is_no_group(request: OffsetDeleteRequest, difference: Difference) -> bool:
    return (difference.real, difference.ours) == (Error.NONE, Error.GROUP_ID_NOT_FOUND)


def _is_never_answered(request: object, difference: Difference) -> bool:
    return is_missing(difference.real)


def _names_a_resource_twice(request: AlterConfigsRequest, difference: Difference) -> bool:
    """Kinds that 3.9 does not know are one to it."""
    named = [
        (r.resource_type if r.resource_type in _KINDS_OF_CONFIGS else 0, r.resource_name)
        for r in request.resources
    ]
    return is_missing(difference.real) and len(named) > len({*named})


def _is_a_rate(request: DescribeConfigsRequest, difference: Difference) -> bool:
    return difference.place.startswith(tuple(f"results.configs.{name}" for name in UNLISTED))


def _is_there_once(request: FetchRequest, difference: Difference) -> bool:
    return is_missing(difference.real) != is_missing(difference.ours)


_ANSWERED_ONCE: dict[type[Request], tuple[str, ...]] = {
    OffsetCommitRequest: ("topics", "topics.partitions"),
    OffsetFetchRequest: (
        "topics",
        "topics.partitions",
        "groups.topics",
        "groups.topics.partitions",
    ),
    TxnOffsetCommitRequest: ("topics", "topics.partitions"),
    OffsetDeleteRequest: ("topics", "topics.partitions"),
}
"""Lists in which 3.9 answers once what is named twice."""


def _is_answered_here(request: Request, difference: Difference) -> bool:
    ours = difference.ours
    is_gone = isinstance(ours, dict) and ours["error_code"] == Error.UNKNOWN_MEMBER_ID
    return is_missing(difference.real) and is_gone


ALLOWED_3_9: tuple[Allowed, ...] = (
    *(
        Allowed(
            f"3.9 gathers partitions of groups in maps: {api_name(request)}",
            request,
            place,
            "a partition that is named twice is answered once there; the emulator follows 4.3",
            are_lists,
            ends=True,
        )
        for request, places in _ANSWERED_ONCE.items()
        for place in places
    ),
    *(
        Allowed(
            f"3.9 answers partitions of groups in the order of a map: {api_name(request)}",
            request,
            "*",
            "the emulator follows 4.3: as they were asked",
            _is_order,
            ends=True,
        )
        for request in (
            OffsetCommitRequest,
            OffsetDeleteRequest,
            OffsetFetchRequest,
            TxnOffsetCommitRequest,
        )
    ),
    *(
        Allowed(
            f"records compressed by another library: where the last is {what}",
            FetchRequest,
            f"responses.records.{what}",
            "an answer is cut where the stored bytes end, and those may be a few bytes more",
            is_cut_elsewhere,
        )
        for what in ("left", "cut")
    ),
    Allowed(
        "old messages compressed by another library: the last is whole on one side only",
        FetchRequest,
        "responses.records.offset",
        "an answer is cut where the stored bytes end, and may end there with a wrapper",
        _is_there_once,
        ends=True,
    ),
    Allowed(
        "an entry in a wrapper that is larger than the real broker's memory",
        ProduceRequest,
        "responses.partition_responses.error_code",
        "it allocates the whole entry before it sees that the entry is cut; the emulator looks"
        " first",
        asks_for_too_much,
    ),
    Allowed(
        "a commit to a group of which nothing is stored",
        OffsetCommitRequest,
        "topics.partitions.error_code",
        "3.9 knows a group that was only named; the emulator follows 4.3",
        _is_no_group_of_a_generation,
        ends=True,
    ),
    *(
        Allowed(
            f"{api_name(request)} of a member that another connection removes",
            request,
            "",
            "a real broker never answers it, JoinGroup up to 2.0; the emulator does, so that the"
            " member need not wait",
            _is_answered_here,
        )
        for request in (JoinGroupRequest, SyncGroupRequest)
    ),
    Allowed(
        "members whose votes for a protocol are even",
        JoinGroupRequest,
        "protocol_name",
        "3.9 takes the first of another map; the emulator follows 4.3",
        ends=True,
    ),
    Allowed(
        "rates that only a running broker has",
        DescribeConfigsRequest,
        "*",
        "3.9 shows them as it shows what it does not know; the emulator follows 4.3",
        _is_a_rate,
    ),
    Allowed(
        "AlterConfigs that names a resource twice",
        AlterConfigsRequest,
        "",
        "3.9 never answers some of them",
        _names_a_resource_twice,
        ends=True,
    ),
    Allowed(
        "OffsetFetch of no group at all",
        OffsetFetchRequest,
        "",
        "3.9 never answers it",
        _is_never_answered,
        ends=True,
    ),
    Allowed(
        "deleting offsets of a group of which nothing is stored",
        OffsetDeleteRequest,
        "error_code",
        "3.9 knows a group that was only named; the emulator follows 4.3",
        _is_no_group,
        ends=True,
    ),
    Allowed(
        "deleting a group of which nothing is stored",
        DeleteGroupsRequest,
        "results.error_code",
        "3.9 knows a group that was only named; the emulator follows 4.3",
        ends=True,
    ),
    Allowed(
        "what 3.9 shows of a group",
        DescribeGroupsRequest,
        "*",
        "fewer operations, no assignment while members join, and groups that were only named;"
        " the emulator follows 4.3",
        _is_shown_less,
    ),
    Allowed(
        "groups of which nothing is stored",
        ListGroupsRequest,
        "groups",
        "3.9 lists a group that was only named; the emulator follows 4.3",
        are_lists,
        ends=True,
    ),
    *(
        Allowed(
            f"other messages of 3.9: {api_name(request)}",
            request,
            "*",
            "messages for people changed with 4.x; the codes are compared",
            _is_message,
        )
        for request in (
            AlterPartitionReassignmentsRequest,
            UnregisterBrokerRequest,
            AlterConfigsRequest,
            IncrementalAlterConfigsRequest,
        )
    ),
    Allowed(
        "the leader's address with a refusal",
        FetchRequest,
        "node_endpoints",
        "3.9 gives it to clients that act as replicas; the emulator follows 4.3",
        are_lists,
    ),
    Allowed(
        "damage after what can be converted",
        FetchRequest,
        "",
        "the real broker closes the connection in the middle of its answer; the emulator fills the"
        " rest of the answer",
        _was_closed,
        ends=True,
    ),
)
