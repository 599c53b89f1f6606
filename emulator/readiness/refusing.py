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
from typing import Any, NamedTuple, TypeAlias

from ...wire import NO_ID, Error, Refused, Request, Response
from ...wire.api.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from ...wire.api.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
)
from ...wire.api.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from ...wire.api.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
)
from ...wire.api.end_txn import EndTxnRequest, EndTxnResponse
from ...wire.api.fetch import FetchRequest, FetchResponse
from ...wire.api.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from ...wire.api.heartbeat import HeartbeatRequest, HeartbeatResponse
from ...wire.api.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ...wire.api.join_group import JoinGroupRequest, JoinGroupResponse
from ...wire.api.leave_group import LeaveGroupRequest, LeaveGroupResponse
from ...wire.api.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from ...wire.api.metadata import MetadataRequest, MetadataResponse
from ...wire.api.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from ...wire.api.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from ...wire.api.produce import ProduceRequest, ProduceResponse
from ...wire.api.streams_group_heartbeat import StreamsGroupHeartbeatRequest
from ...wire.api.sync_group import SyncGroupRequest, SyncGroupResponse
from ...wire.api.txn_offset_commit import TxnOffsetCommitRequest, TxnOffsetCommitResponse
from ..config.internal_topics import CONSUMER_OFFSETS, TRANSACTION_STATE
from ..handlers.streams_group_heartbeat import refused_answer

_GROUPS_SINCE = 8
_MANY_SINCE = 4
_NOT_AVAILABLE = "The coordinator is not available."
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


def not_found(request: FindCoordinatorRequest, version: int) -> FindCoordinatorResponse:
    error = Error.COORDINATOR_NOT_AVAILABLE
    if version < _MANY_SINCE:
        return FindCoordinatorResponse(
            error_code=error, error_message=_NOT_AVAILABLE, node_id=-1, host="", port=-1
        )
    Coordinator = FindCoordinatorResponse.Coordinator
    return FindCoordinatorResponse(
        coordinators=[
            Coordinator(
                key=key,
                node_id=-1,
                host="",
                port=-1,
                error_code=error,
                error_message=_NOT_AVAILABLE,
            )
            for key in request.coordinator_keys
        ]
    )


def refused(request: Request, version: int, error: Error) -> Response:
    return _REFUSALS[type(request)](request, version, error)


def _join(request: JoinGroupRequest, version: int, error: Error) -> Response:
    return JoinGroupResponse(error_code=error, member_id=request.member_id)


def _commit(request: OffsetCommitRequest, version: int, error: Error) -> Response:
    Topic = OffsetCommitResponse.Topic
    return OffsetCommitResponse(
        topics=[
            Topic(name=topic.name, topic_id=topic.topic_id, partitions=_each(Topic, topic, error))
            for topic in request.topics
        ]
    )


def _txn_commit(request: TxnOffsetCommitRequest, version: int, error: Error) -> Response:
    Topic = TxnOffsetCommitResponse.Topic
    topics = [Topic(name=t.name, partitions=_each(Topic, t, error)) for t in request.topics]
    return TxnOffsetCommitResponse(topics=topics)


def _each(kind: Any, topic: Any, error: Error) -> list[Any]:
    return [
        kind.Partition(partition_index=each.partition_index, error_code=error)
        for each in topic.partitions
    ]


def _offset_fetch(request: OffsetFetchRequest, version: int, error: Error) -> Response:
    if version < _GROUPS_SINCE:
        Topic = OffsetFetchResponse.Topic
        topics = [
            Topic(
                name=topic.name,
                partitions=[
                    Topic.Partition(
                        partition_index=index, committed_offset=-1, metadata="", error_code=error
                    )
                    for index in topic.partition_indexes
                ],
            )
            for topic in request.topics or []
        ]
        return OffsetFetchResponse(topics=[] if version >= 2 else topics, error_code=error)
    Group = OffsetFetchResponse.Group
    groups = [Group(group_id=g.group_id, topics=[], error_code=error) for g in request.groups]
    return OffsetFetchResponse(groups=groups)


def _init(request: InitProducerIdRequest, version: int, error: Error) -> Response:
    return InitProducerIdResponse(error_code=error, producer_id=-1, producer_epoch=-1)


def _add(request: AddPartitionsToTxnRequest, version: int, error: Error) -> Response:
    Topic, Partition = AddPartitionsToTxnResponse.Topic, AddPartitionsToTxnResponse.Partition
    return AddPartitionsToTxnResponse(
        results_by_topic_v3_and_below=[
            Topic(
                name=topic.name,
                results_by_partition=[
                    Partition(partition_index=index, partition_error_code=error)
                    for index in topic.partitions
                ],
            )
            for topic in request.v3_and_below_topics
        ]
    )


def _streams_beat(request: Request, version: int, error: Error) -> Response:
    return refused_answer(Refused(error))


def _plain(response: Any) -> Callable[[Any, int, Error], Response]:
    def refusal(request: Request, version: int, error: Error) -> Response:
        made: Response = response(error_code=error)
        return made

    return refusal


_REFUSALS: dict[type[Request], Callable[[Any, int, Error], Response]] = {
    JoinGroupRequest: _join,
    SyncGroupRequest: _plain(SyncGroupResponse),
    HeartbeatRequest: _plain(HeartbeatResponse),
    LeaveGroupRequest: _plain(LeaveGroupResponse),
    ConsumerGroupHeartbeatRequest: _plain(ConsumerGroupHeartbeatResponse),
    StreamsGroupHeartbeatRequest: _streams_beat,
    OffsetCommitRequest: _commit,
    OffsetFetchRequest: _offset_fetch,
    TxnOffsetCommitRequest: _txn_commit,
    InitProducerIdRequest: _init,
    AddPartitionsToTxnRequest: _add,
    AddOffsetsToTxnRequest: _plain(AddOffsetsToTxnResponse),
    EndTxnRequest: _plain(EndTxnResponse),
}

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


ErrorOf: TypeAlias = Callable[[str, bytes], Error]
"""The error of a topic, by name or by id, now."""
Describing: TypeAlias = MetadataRequest | DescribeTopicPartitionsRequest
FINAL_EPOCH = -1


class Withheld(NamedTuple):
    """The answers for what was taken out of a request, and whether anything is left of it."""

    answers: list[Any]
    is_all: bool


NOTHING = Withheld([], False)


def withhold(request: Request, error_of: ErrorOf) -> Withheld:
    if isinstance(request, ProduceRequest):
        request.topic_data, refused = _split(request.topic_data, error_of)
        return Withheld([_produced(*each) for each in refused], not request.topic_data)
    if isinstance(request, ListOffsetsRequest):
        request.topics, refused = _split(request.topics, error_of)
        return Withheld([_listed(*each) for each in refused], not request.topics)
    if isinstance(request, FetchRequest):
        request.topics, refused = _split(request.topics, error_of)
        if refused:
            request.session_epoch, request.max_wait_ms = FINAL_EPOCH, 0
        return Withheld([_fetched(*each) for each in refused], False)
    return NOTHING


def put_back(response: Response | None, withheld: Withheld) -> None:
    if isinstance(response, ProduceResponse | FetchResponse):
        response.responses += withheld.answers
    elif isinstance(response, ListOffsetsResponse):
        response.topics += withheld.answers


def answer_for(request: Request, withheld: Withheld) -> Response:
    if isinstance(request, ProduceRequest):
        return ProduceResponse(responses=withheld.answers)
    return ListOffsetsResponse(topics=withheld.answers)


def hide(request: Describing, response: Response, error_of: ErrorOf) -> None:
    """Answer Metadata or DescribeTopicPartitions as if these topics were not there yet."""
    assert isinstance(response, MetadataResponse | DescribeTopicPartitionsResponse)
    answer: Any = response
    shown = []
    for topic in answer.topics:
        if error_of(topic.name or "", NO_ID) is not Error.UNKNOWN_TOPIC_OR_PARTITION:
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


def _split(topics: list[Any], error_of: ErrorOf) -> tuple[list[Any], list[tuple[Any, Error]]]:
    served, refused = [], []
    for topic in topics:
        name = getattr(topic, "name", "") or getattr(topic, "topic", "")
        topic_id = getattr(topic, "topic_id", NO_ID)
        error = error_of(name, topic_id)
        if not error:
            served.append(topic)
            continue
        if topic_id != NO_ID and error is Error.UNKNOWN_TOPIC_OR_PARTITION:
            error = Error.UNKNOWN_TOPIC_ID
        refused.append((topic, error))
    return served, refused


def _produced(topic: ProduceRequest.Topic, error: Error) -> ProduceResponse.Topic:
    Topic = ProduceResponse.Topic
    return Topic(
        name=topic.name,
        topic_id=topic.topic_id,
        partition_responses=[
            Topic.Partition(index=each.index, error_code=error, base_offset=-1)
            for each in topic.partition_data
        ],
    )


def _fetched(topic: FetchRequest.Topic, error: Error) -> FetchResponse.Topic:
    Topic = FetchResponse.Topic
    return Topic(
        topic=topic.topic,
        topic_id=topic.topic_id,
        partitions=[
            Topic.Partition(
                partition_index=each.partition, error_code=error, high_watermark=-1, records=b""
            )
            for each in topic.partitions
        ],
    )


def _listed(topic: ListOffsetsRequest.Topic, error: Error) -> ListOffsetsResponse.Topic:
    Topic = ListOffsetsResponse.Topic
    return Topic(
        name=topic.name,
        partitions=[
            Topic.Partition(partition_index=each.partition_index, error_code=error)
            for each in topic.partitions
        ],
    )
