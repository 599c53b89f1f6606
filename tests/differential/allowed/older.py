"""What may differ from real brokers of older releases, beyond what may differ from 4.3 and 3.9.

One before 3.3 keeps its metadata with ZooKeeper, or in the first form of KRaft: what follows from
where the metadata is, and words for people, are not compared.
"""

from __future__ import annotations

import re

from odradek.wire import Error, Request
from odradek.wire.api.alter_client_quotas import AlterClientQuotasRequest
from odradek.wire.api.alter_configs import AlterConfigsRequest
from odradek.wire.api.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from odradek.wire.api.create_acls import CreateAclsRequest
from odradek.wire.api.create_partitions import CreatePartitionsRequest
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.delete_acls import DeleteAclsRequest
from odradek.wire.api.describe_client_quotas import DescribeClientQuotasRequest
from odradek.wire.api.describe_configs import DescribeConfigsRequest
from odradek.wire.api.describe_log_dirs import DescribeLogDirsRequest
from odradek.wire.api.describe_user_scram_credentials import DescribeUserScramCredentialsRequest
from odradek.wire.api.elect_leaders import ElectLeadersRequest
from odradek.wire.api.incremental_alter_configs import IncrementalAlterConfigsRequest
from odradek.wire.api.join_group import JoinGroupRequest
from odradek.wire.api.leave_group import LeaveGroupRequest
from odradek.wire.api.list_partition_reassignments import ListPartitionReassignmentsRequest
from odradek.wire.api.offset_fetch import OffsetFetchRequest
from odradek.wire.api.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from odradek.wire.api.produce import ProduceRequest
from odradek.wire.legacy.message_sets import entries

from ..ask.configs import BROKER, LOGGER, TOPIC
from ..engine.compare import Difference
from ..engine.results import api_name
from .allowance import Allowed, are_lists, is_missing

_SCALA = re.compile(r"(?:Hash)?Set\(([^)]*)\)")
_OF_TIERS = ("results.configs.local.retention.", "results.configs.remote.storage.")
_ORDERED = ("topics.topic", "topics.partitions.partition")
_OF_ZOOKEEPER = "results.configs.zookeeper."


def _is_of_zookeeper(request: DescribeConfigsRequest, difference: Difference) -> bool:
    return difference.place.startswith(_OF_ZOOKEEPER)


def _differ_in_empty_ones(request: Request, difference: Difference) -> bool:
    """Whether the lists are alike but for topics without partitions."""
    if not are_lists(request, difference):
        return False
    filled = [
        [each for each in side if each["partitions"]] for side in (difference.real, difference.ours)
    ]
    return filled[0] == filled[1]


def _is_of_tiers(request: DescribeConfigsRequest, difference: Difference) -> bool:
    return is_missing(difference.real) and difference.place.startswith(_OF_TIERS)


def _is_scala(request: Request, difference: Difference) -> bool:
    """Whether the sentences differ in how they write a list of names."""
    real, ours = str(difference.real), str(difference.ours)
    is_sentence = difference.place.endswith("error_message")
    return is_sentence and _SCALA.sub(r"[\1]", real) == ours


def _are_sentences(request: Request, difference: Difference) -> bool:
    texts = isinstance(difference.real, str) and isinstance(difference.ours, str)
    return texts and difference.place.endswith("error_message")


def _asks_for_no_group(request: OffsetFetchRequest, difference: Difference) -> bool:
    return not request.groups and (is_missing(difference.real) or is_missing(difference.ours))


ALLOWED_BEFORE_4_2: tuple[Allowed, ...] = (
    *(
        Allowed(
            f"which of several wrong configs is named, and how: {api_name(request)}",
            request,
            "*",
            "lists have other rules in 4.2, and configs that are not known another place among"
            " those that may not be changed; the codes are compared",
            _are_sentences,
        )
        for request in (AlterConfigsRequest, IncrementalAlterConfigsRequest)
    ),
)

ALLOWED_4_0: tuple[Allowed, ...] = (
    Allowed(
        "OffsetFetch of no group",
        OffsetFetchRequest,
        "",
        "4.0 never answers it",
        _asks_for_no_group,
        ends=True,
    ),
)

ALLOWED_BEFORE_4_3: tuple[Allowed, ...] = tuple(
    Allowed(
        f"lists of names as Scala writes them: {api_name(request)}",
        request,
        "*",
        "until 4.2 a sentence has Set(a, b) where it has [a, b] now",
        _is_scala,
    )
    for request in (AlterConfigsRequest, IncrementalAlterConfigsRequest)
)


def _is_of_a_map(request: Request, difference: Difference) -> bool:
    return are_lists(request, difference) or difference.place in _ORDERED


def _names_an_unknown_twice(request: AlterConfigsRequest, difference: Difference) -> bool:
    named = [
        (r.resource_type if r.resource_type in (TOPIC, BROKER, LOGGER) else 0, r.resource_name)
        for r in request.resources
    ]
    is_unanswered = is_missing(difference.real) or is_missing(difference.ours)
    return is_unanswered and len(named) > len({*named})


def _shows_the_record(request: ProduceRequest, difference: Difference) -> bool:
    return str(difference.real).startswith("Invalid timestamp type in message DefaultRecord(")


ALLOWED_BEFORE_3_9: tuple[Allowed, ...] = (
    Allowed(
        "AlterConfigs that names a resource twice, of a kind that is not known",
        AlterConfigsRequest,
        "*",
        "a real broker fails and never answers: metrics are a kind since 3.7",
        _names_an_unknown_twice,
        ends=True,
    ),
    Allowed(
        "records that claim the broker's time, as Java shows them",
        ProduceRequest,
        "responses.partition_responses.record_errors.batch_index_error_message",
        "3.3 and before refuse them with a sentence that shows the record",
        _shows_the_record,
    ),
    Allowed(
        "topics without partitions in log directories",
        DescribeLogDirsRequest,
        "results.topics",
        "those of sequences before are deleted a while later, and have the order of a map",
        _differ_in_empty_ones,
    ),
    Allowed(
        "configs of tiered storage that are not described",
        DescribeConfigsRequest,
        "*",
        "3.3 has them, and shows them when a topic is created alone",
        _is_of_tiers,
    ),
)


def _elects_nothing(request: ElectLeadersRequest, difference: Difference) -> bool:
    is_unknown = request.election_type not in (0, 1) and request.topic_partitions is None
    return is_unknown and (is_missing(difference.real) or is_missing(difference.ours))


def _cannot_write_it(request: Request, difference: Difference) -> bool:
    return difference.real == Error.UNSUPPORTED_VERSION and difference.place == "error_code"


def _is_order(request: Request, difference: Difference) -> bool:
    return difference.place in ("responses.partitions.partition_index", "responses.name")


def _is_being_deleted(request: ElectLeadersRequest, difference: Difference) -> bool:
    being_deleted, gone = Error.INVALID_TOPIC_EXCEPTION, Error.UNKNOWN_TOPIC_OR_PARTITION
    return (difference.real, difference.ours) == (being_deleted, gone)


def _is_sentence(request: Request, difference: Difference) -> bool:
    return difference.place.endswith("error_message")


ALLOWED_WITH_ZOOKEEPER: tuple[Allowed, ...] = (
    *(
        Allowed(
            f"sentences of a controller with ZooKeeper: {api_name(request)}",
            request,
            "*",
            "sentences for people are those of KRaft here; the codes are compared",
            _is_sentence,
        )
        for request in (
            AlterClientQuotasRequest,
            CreateAclsRequest,
            CreatePartitionsRequest,
            CreateTopicsRequest,
            DeleteAclsRequest,
            DescribeClientQuotasRequest,
            DescribeConfigsRequest,
            DescribeUserScramCredentialsRequest,
            ElectLeadersRequest,
            ListPartitionReassignmentsRequest,
        )
    ),
    Allowed(
        "AlterPartitionReassignments is answered in the order of a map",
        AlterPartitionReassignmentsRequest,
        "*",
        "a controller with ZooKeeper gathers partitions in one; the emulator answers as asked",
        _is_order,
        ends=True,
    ),
    *(
        Allowed(
            f"a leader that joins before v5 among static members: {api_name(request)}",
            request,
            "*",
            "a broker up to 2.8 fails to write its answer, and refuses whoever ended the round;"
            " which members were answered before follows from their ids, which are drawn",
            _cannot_write_it,
            ends=True,
        )
        for request in (JoinGroupRequest, LeaveGroupRequest)
    ),
    Allowed(
        "ElectLeaders of a topic that is being deleted",
        ElectLeadersRequest,
        "replica_election_results.partition_result.error_code",
        "a controller with ZooKeeper says so (17) until the deletion is over, a moment later",
        _is_being_deleted,
    ),
    Allowed(
        "ElectLeaders of an unknown type for all partitions",
        ElectLeadersRequest,
        "",
        "a broker with ZooKeeper fails twice and never answers",
        _elects_nothing,
        ends=True,
    ),
    Allowed(
        "OffsetForLeaderEpoch is answered in the order of a map",
        OffsetForLeaderEpochRequest,
        "*",
        "each partition once, whatever was asked first; the emulator follows 4.3",
        _is_of_a_map,
        ends=True,
    ),
    Allowed(
        "where ZooKeeper is",
        DescribeConfigsRequest,
        "*",
        "the real broker is started with the address of one, and with short sessions",
        _is_of_zookeeper,
    ),
)


def _is_of_another_magic(request: ProduceRequest, difference: Difference) -> bool:
    sets = [each.records or b"" for topic in request.topic_data for each in topic.partition_data]
    magics = {entry.magic for data in sets for entry in entries(data, any_magic=True)}
    return (difference.real, difference.ours) == (0, -1) and not magics <= {0, 1}


def _waits_for_replicas(request: ProduceRequest, difference: Difference) -> bool:
    return request.acks not in (-1, 0, 1)


ALLOWED_BEFORE_0_9: tuple[Allowed, ...] = (
    Allowed(
        "acks of two and more",
        ProduceRequest,
        "*",
        "0.8 waits for so many replicas; here they are refused, as since 0.9",
        _waits_for_replicas,
        ends=True,
    ),
    Allowed(
        "messages of a magic that there was not",
        ProduceRequest,
        "responses.partition_responses.error_code",
        "0.8 stores them as they are; here they are refused, since no reader could read them",
        _is_of_another_magic,
        ends=True,
    ),
)
