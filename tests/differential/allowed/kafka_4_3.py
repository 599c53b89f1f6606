"""What may differ from a real Kafka of any release: 4.3 and, with `kafka_3_9`, 3.9."""

from __future__ import annotations

from odradek.wire import Error
from odradek.wire.api.alter_configs import AlterConfigsRequest
from odradek.wire.api.describe_configs import DescribeConfigsRequest
from odradek.wire.api.describe_share_group_offsets import DescribeShareGroupOffsetsRequest
from odradek.wire.api.describe_topic_partitions import DescribeTopicPartitionsRequest
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.incremental_alter_configs import IncrementalAlterConfigsRequest
from odradek.wire.api.join_group import JoinGroupRequest

from ..engine.compare import Difference
from ..engine.results import api_name
from .allowance import Allowed, is_missing
from .cluster import ALLOWED_OF_THE_CLUSTER
from .recompressed import holds_wrappers

_PARTITIONS_MAX = 2**31 - 2001
"""The largest index of a partition to which the real broker can still add a page."""

# What follows from how a broker was started: listeners, directories, a real controller's quorum.
_STARTED = (
    "advertised.listeners",
    "broker.id",
    "controller.listener.names",
    "controller.quorum.voters",
    "group.initial.rebalance.delay.ms",
    "group.streams.initial.rebalance.delay.ms",
    "listener.security.protocol.map",
    "listeners",
    "log.dirs",
    "node.id",
    "process.roles",
)


def _is_past_the_last(request: DescribeTopicPartitionsRequest, difference: Difference) -> bool:
    return request.cursor is not None and request.cursor.partition_index > _PARTITIONS_MAX


def _is_broken_session(request: FetchRequest, difference: Difference) -> bool:
    is_served = request.isolation_level in (0, 1)
    is_cause = is_served or bool(_unknown_ids(request))
    codes = (Error.UNKNOWN_SERVER_ERROR, Error.NONE)
    return is_cause and (difference.real, difference.ours) == codes


def _names_unknown_ids(request: FetchRequest, difference: Difference) -> bool:
    return is_missing(difference.real) and len(_unknown_ids(request)) > 1


def _unknown_ids(request: FetchRequest) -> list[bytes]:
    """The ids that belong to no topic, once for each partition."""
    topics = request.topics
    ids = [t.topic_id for t in topics for _ in t.partitions]
    # The ids of topics that are there are symbols until a request is sent.
    return [each for each in ids if isinstance(each, bytes) and each[:15] == bytes(15)]


def _is_documentation(request: DescribeConfigsRequest, difference: Difference) -> bool:
    return difference.place.endswith(".documentation")


def _is_of_the_start(request: DescribeConfigsRequest, difference: Difference) -> bool:
    return difference.place.startswith(tuple(f"results.configs.{name}." for name in _STARTED))


def _has_waited_for_a_deleted_topic(request: FetchRequest, difference: Difference) -> bool:
    codes = (Error.UNKNOWN_TOPIC_OR_PARTITION, Error.UNKNOWN_TOPIC_ID)
    values = (difference.real, difference.ours)
    is_error = difference.place == "responses.error_code" and values == codes
    is_shape = difference.place == "responses.aborted_transactions" and values == (None, [])
    return request.max_wait_ms > 0 and (is_error or is_shape)


def _is_unknown_config(request: DescribeConfigsRequest, difference: Difference) -> bool:
    real = difference.real
    is_secret = isinstance(real, dict) and real["value"] is None and real["is_sensitive"]
    return is_secret and is_missing(difference.ours)


def _lists_in_another_order(request: object, difference: Difference) -> bool:
    real, ours = difference.real, difference.ours
    return isinstance(real, str) and isinstance(ours, str) and sorted(real) == sorted(ours)


ALLOWED: tuple[Allowed, ...] = (
    *ALLOWED_OF_THE_CLUSTER,
    Allowed(
        "who leads a group whose leader left",
        JoinGroupRequest,
        "leader",
        "the next leader is the first of a hash map of ids that the broker drew",
        ends=True,
    ),
    Allowed(
        "a cursor near the largest number",
        DescribeTopicPartitionsRequest,
        "*",
        "the real broker's sum overflows, and it names a negative partition to go on with",
        _is_past_the_last,
    ),
    Allowed(
        "a session with several partitions of unknown ids",
        FetchRequest,
        "error_code",
        "the real broker takes topics without a name for one and fails; we answer"
        " UNKNOWN_TOPIC_ID for each",
        _is_broken_session,
        ends=True,
    ),
    Allowed(
        "waiting with several partitions of unknown ids",
        FetchRequest,
        "",
        "the same, when the fetch has waited: the real broker then never answers",
        _names_unknown_ids,
        ends=True,
    ),
    Allowed(
        "where a share group is in a partition that there is not",
        DescribeShareGroupOffsetsRequest,
        "",
        "the real broker never answers; ours says that there is no offset",
        lambda request, difference: is_missing(difference.real),
        ends=True,
    ),
    Allowed(
        "the documentation of configs",
        DescribeConfigsRequest,
        "*",
        "Kafka's sentences about its configs are its own text; ours are ours, and fewer",
        _is_documentation,
    ),
    Allowed(
        "configs of how the two brokers were started",
        DescribeConfigsRequest,
        "*",
        "the real one has a controller's listener, ports and directories of its own",
        _is_of_the_start,
    ),
    Allowed(
        "a fetch by id that waits while its topic is deleted",
        FetchRequest,
        "*",
        "the real broker answers UNKNOWN_TOPIC_OR_PARTITION or UNKNOWN_TOPIC_ID, whichever of its"
        " threads is first to notice",
        _has_waited_for_a_deleted_topic,
    ),
    Allowed(
        "configs that the real broker is given and does not know",
        DescribeConfigsRequest,
        "*",
        "it keeps them and shows them as secrets; the emulator refuses names that it does not know",
        _is_unknown_config,
    ),
    *(
        Allowed(
            f"the order of names in a message of {api_name(request)}",
            request,
            "responses.error_message",
            "they come from a hash set; of two in one bucket the order depends on its history",
            _lists_in_another_order,
        )
        for request in (AlterConfigsRequest, IncrementalAlterConfigsRequest)
    ),
    Allowed(
        "recompressed by another library: size",
        FetchRequest,
        "responses.records.compressed.batch_length",
        "two implementations of a codec need not write the same bytes; the records are compared",
    ),
    *(
        Allowed(
            f"an old message compressed by another library: {what}",
            FetchRequest,
            f"responses.records.compressed.{what}",
            "the messages in it are compared; the end of the answer follows from its size",
        )
        for what in ("checksum", "size", "left")
    ),
    Allowed(
        "old messages compressed by another library: how many fit",
        FetchRequest,
        "responses.records",
        "an answer is cut where the stored bytes end, wherever that is in what they become",
        holds_wrappers,
    ),
    Allowed(
        "recompressed by another library: checksum",
        FetchRequest,
        "responses.records.compressed.crc",
        "two implementations of a codec need not write the same bytes; the records are compared",
    ),
)
