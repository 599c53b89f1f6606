"""Requests to a coordinator that is not ready, answered with one error in each place it has.

`coordinator_of` says which coordinator a request needs; those that a loading one answers all the
same (Heartbeat) are marked. A request for several groups is refused for all of them.

Topics that a broker does not serve yet, taken out of a request and put back into its answer.

Rules:
- The other topics of the request are served as ever.
- By id a topic that is not known is refused with UNKNOWN_TOPIC_ID, by name with
  UNKNOWN_TOPIC_OR_PARTITION.
- A fetch that names such a topic does not wait, and ends its session, as after a restart: the
  client begins another. So no session forgets what was taken out.
- Metadata, which may create topics, and DescribeTopicPartitions are asked as ever; their answers
  are changed.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, TypeAlias

from ...wire import NO_ID, Error, Refused, Request, Response
from ...wire.api.add_offsets_to_txn import AddOffsetsToTxnRequest
from ...wire.api.add_partitions_to_txn import AddPartitionsToTxnRequest
from ...wire.api.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from ...wire.api.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
)
from ...wire.api.end_txn import EndTxnRequest
from ...wire.api.fetch import FetchRequest
from ...wire.api.find_coordinator import FindCoordinatorRequest
from ...wire.api.heartbeat import HeartbeatRequest
from ...wire.api.init_producer_id import InitProducerIdRequest
from ...wire.api.join_group import JoinGroupRequest
from ...wire.api.leave_group import LeaveGroupRequest
from ...wire.api.list_offsets import ListOffsetsRequest
from ...wire.api.metadata import MetadataRequest, MetadataResponse
from ...wire.api.offset_commit import OffsetCommitRequest
from ...wire.api.offset_fetch import OffsetFetchRequest
from ...wire.api.produce import ProduceRequest
from ...wire.api.streams_group_heartbeat import StreamsGroupHeartbeatRequest
from ...wire.api.sync_group import SyncGroupRequest
from ...wire.api.txn_offset_commit import TxnOffsetCommitRequest
from ..config.internal_topics import CONSUMER_OFFSETS, TRANSACTION_STATE
from ..division.division import Division, Refusal, divide
from ..division.entries import Entry, TopicNames
from ..division.places import TOPIC
from ..division.refusing import refused, whole
from ..handlers.streams_group_heartbeat import refused_answer

_MANY_SINCE = 4
_NOT_AVAILABLE = "The coordinator is not available."
_IDS_SINCE: dict[type[Request], int] = {ProduceRequest: 13, FetchRequest: 13}
_KINDS = {0: CONSUMER_OFFSETS, 1: TRANSACTION_STATE}


def coordinator_of(request: Request, version: int) -> str:
    """The internal topic of the coordinator that a request needs, "" if none."""
    if isinstance(request, InitProducerIdRequest):
        return TRANSACTION_STATE if request.transactional_id else ""
    if isinstance(request, AddPartitionsToTxnRequest):
        return TRANSACTION_STATE if version < _MANY_SINCE else ""
    return _COORDINATORS.get(type(request), "")


def searched(request: FindCoordinatorRequest) -> str:
    """The internal topic of the kind of coordinator that is looked for."""
    return _KINDS.get(request.key_type, "")


def not_found(request: FindCoordinatorRequest, version: int) -> Response:
    """There is no coordinator yet."""
    error = Error.COORDINATOR_NOT_AVAILABLE
    where = whole(FindCoordinatorRequest, version)
    made: Response = refused(request, version, where, error, _NOT_AVAILABLE)
    return made


def not_ready(request: Request, version: int, error: Error) -> Response:
    """The answer of a coordinator that is not ready."""
    if isinstance(request, StreamsGroupHeartbeatRequest):
        return refused_answer(Refused(error))
    made: Any = refused(request, version, whole(type(request), version), error)
    if isinstance(request, JoinGroupRequest):
        made.member_id, made.protocol_name = request.member_id, ""
    return made  # type: ignore[no-any-return]


_COORDINATORS: dict[type[Request], str] = {
    **dict.fromkeys(
        (
            JoinGroupRequest,
            SyncGroupRequest,
            HeartbeatRequest,
            LeaveGroupRequest,
            ConsumerGroupHeartbeatRequest,
            StreamsGroupHeartbeatRequest,
            OffsetCommitRequest,
            OffsetFetchRequest,
            TxnOffsetCommitRequest,
        ),
        CONSUMER_OFFSETS,
    ),
    AddOffsetsToTxnRequest: TRANSACTION_STATE,
    EndTxnRequest: TRANSACTION_STATE,
}


ErrorOf: TypeAlias = Callable[[str], Error]
"""What a topic is refused with now."""
Describing: TypeAlias = MetadataRequest | DescribeTopicPartitionsRequest
FINAL_EPOCH = -1


def withhold(
    request: Request, version: int, names: TopicNames, error_of: ErrorOf
) -> Division | None:
    """Take out the topics that are not served yet."""
    if not isinstance(request, ProduceRequest | FetchRequest | ListOffsetsRequest):
        return None
    by_id = version >= _IDS_SINCE.get(type(request), version + 1)

    def refuse(entry: Entry) -> Refusal | None:
        error = error_of(entry[TOPIC] or "")
        if by_id and error is Error.UNKNOWN_TOPIC_OR_PARTITION:
            error = Error.UNKNOWN_TOPIC_ID
        return Refusal(error) if error else None

    division = divide(request, version, names, refuse)
    if division is not None and isinstance(request, FetchRequest):
        rest: Any = division.rest or copy(request)
        if division.rest is None:
            rest.topics = []
        rest.session_epoch, rest.max_wait_ms = FINAL_EPOCH, 0
        division.rest = rest
    return division


def hide(request: Describing, response: Response, error_of: ErrorOf) -> None:
    """Answer Metadata or DescribeTopicPartitions as if these topics were not there yet."""
    assert isinstance(response, MetadataResponse | DescribeTopicPartitionsResponse)
    answer: Any = response
    shown = []
    for topic in answer.topics:
        if error_of(topic.name or "") is not Error.UNKNOWN_TOPIC_OR_PARTITION:
            shown.append(topic)
        elif request.topics:
            by_name = any(asked.name == topic.name for asked in request.topics)
            shown.append(_unknown(topic, by_name))
    answer.topics = shown


def _unknown(topic: Any, by_name: bool) -> Any:
    if by_name:
        return type(topic)(
            error_code=Error.UNKNOWN_TOPIC_OR_PARTITION,
            name=topic.name,
            topic_id=NO_ID,
            is_internal=topic.is_internal,
            partitions=[],
        )
    return type(topic)(
        error_code=Error.UNKNOWN_TOPIC_ID, name=None, topic_id=topic.topic_id, partitions=[]
    )
