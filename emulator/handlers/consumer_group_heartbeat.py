"""ConsumerGroupHeartbeat (68): a member of a consumer group (KIP-848) joins, stays, or leaves.

What a member must say, in the order in which it is checked (semantics G15): no empty ids; when it
joins (epoch 0) its rebalance timeout, no partitions, and names or an expression; with epoch -2 its
instance; no lower epoch (42). An assignor that the broker has (112).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from ...wire import Error, Refused
from ...wire.api.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from ..base.call import INVALID_REQUEST_TEXT, Call
from ..groups.modern.member import JOINING_EPOCH, LEAVE_EPOCH, STATIC_LEAVE_EPOCH
from ..security.authorizer.acl import Kind, Operation
from .modern_groups import check_not_empty, has_consumer_groups, invalid
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..security.authorizer.authorizer import Authorizer

_MEMBER_CHOOSES_ID_SINCE = 1
Request: TypeAlias = ConsumerGroupHeartbeatRequest
Response: TypeAlias = ConsumerGroupHeartbeatResponse


@handler(ConsumerGroupHeartbeatRequest)
def consumer_group_heartbeat(
    cluster: Cluster, call: Call, request: ConsumerGroupHeartbeatRequest
) -> ConsumerGroupHeartbeatResponse:
    if not has_consumer_groups(cluster):
        return Response(error_code=Error.UNSUPPORTED_VERSION)
    try:
        coordinator = cluster.groups.at(call.node_id)
        _check(request, call.version, coordinator.settings.consumer_assignors)
        authorizer = cluster.authorizer
        sees = None if authorizer is None else partial(_sees, authorizer, call)
        return coordinator.consumer.heartbeat(call, request, sees)
    except Refused as refused:
        return Response(error_code=refused.error, error_message=_sentence(refused))


def _sentence(refused: Refused) -> str | None:
    if refused.message is None and refused.error is Error.INVALID_REQUEST:
        return INVALID_REQUEST_TEXT
    return refused.message


def _check(request: Request, version: int, assignors: Sequence[str]) -> None:
    epoch = request.member_epoch
    if version >= _MEMBER_CHOOSES_ID_SINCE or epoch > JOINING_EPOCH or epoch == LEAVE_EPOCH:
        check_not_empty(MemberId=request.member_id)
    check_not_empty(
        GroupId=request.group_id, InstanceId=request.instance_id, RackId=request.rack_id
    )
    if epoch == JOINING_EPOCH:
        _check_joining(request)
    elif epoch == STATIC_LEAVE_EPOCH:
        if request.instance_id is None:
            raise invalid("InstanceId can't be null.")
    elif epoch < STATIC_LEAVE_EPOCH:
        raise invalid("MemberEpoch is invalid.")
    name = request.server_assignor
    if name is not None and name not in assignors:
        message = (
            f"ServerAssignor {name} is not supported. Supported assignors: {', '.join(assignors)}."
        )
        raise Refused(Error.UNSUPPORTED_ASSIGNOR, message)


def _check_joining(request: Request) -> None:
    if request.rebalance_timeout_ms == -1:
        raise invalid("RebalanceTimeoutMs must be provided in first request.")
    if request.topic_partitions is None or request.topic_partitions:
        raise invalid("TopicPartitions must be empty when (re-)joining.")
    if request.subscribed_topic_names is None and request.subscribed_topic_regex is None:
        raise invalid(
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when"
            " (re-)joining."
        )


def _sees(authorizer: Authorizer, call: Call, topic: str) -> bool:
    return authorizer.may(call.principal, call.client_host, Operation.DESCRIBE, Kind.TOPIC, topic)
