"""Requests to a coordinator that is not ready, answered with one error in each place it has.

`coordinator_of` says which coordinator a request needs; those that a loading one answers all the
same (Heartbeat) are marked. A request for several groups is refused for all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...wire import Error, Refused, Request, Response
from ...wire.api.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from ...wire.api.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
)
from ...wire.api.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from ...wire.api.end_txn import EndTxnRequest, EndTxnResponse
from ...wire.api.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from ...wire.api.heartbeat import HeartbeatRequest, HeartbeatResponse
from ...wire.api.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ...wire.api.join_group import JoinGroupRequest, JoinGroupResponse
from ...wire.api.leave_group import LeaveGroupRequest, LeaveGroupResponse
from ...wire.api.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from ...wire.api.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
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
    """There is no coordinator yet."""
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
    """The answer of a coordinator that is not ready."""
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
