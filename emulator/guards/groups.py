"""What the APIs of groups and their offsets need (semantics M13)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...wire import Error
from ...wire.api.consumer_group_describe import ConsumerGroupDescribeRequest
from ...wire.api.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from ...wire.api.delete_groups import DeleteGroupsRequest
from ...wire.api.describe_groups import DescribeGroupsRequest
from ...wire.api.heartbeat import HeartbeatRequest
from ...wire.api.join_group import JoinGroupRequest
from ...wire.api.leave_group import LeaveGroupRequest
from ...wire.api.list_groups import ListGroupsRequest
from ...wire.api.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from ...wire.api.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse
from ...wire.api.share_group_describe import ShareGroupDescribeRequest
from ...wire.api.sync_group import SyncGroupRequest
from ..security.authorizer.acl import Kind, Operation
from .asking import BITS_UNKNOWN, Authorization, PartlyDenied, Verdict
from .guard import guards
from .needs import ERRORS, needs_each, needs_each_topic, needs_one

_GROUP_BITS_SINCE = 3
_SECRET_TOPICS = "The group has described topic(s) that the client is not authorized to describe."


@guards(JoinGroupRequest, HeartbeatRequest, LeaveGroupRequest)
def membership(asking: Authorization, request: Any) -> Verdict:
    return needs_one(asking, request, Operation.READ, Kind.GROUP, request.group_id)


@guards(SyncGroupRequest)
def sync_group(asking: Authorization, request: SyncGroupRequest) -> Verdict:
    """What version 5 must name comes first: without it the handler refuses the request."""
    is_whole = request.protocol_type is not None and request.protocol_name is not None
    if asking.version >= _PROTOCOL_SINCE and not is_whole:
        return None
    return needs_one(asking, request, Operation.READ, Kind.GROUP, request.group_id)


_PROTOCOL_SINCE = 5


@guards(OffsetCommitRequest)
def offset_commit(asking: Authorization, request: OffsetCommitRequest) -> Verdict:
    refusal = needs_one(asking, request, Operation.READ, Kind.GROUP, request.group_id)
    answer = OffsetCommitResponse.Topic
    return refusal or needs_each_topic(asking, request, Operation.READ, answer)


@guards(OffsetDeleteRequest)
def offset_delete(asking: Authorization, request: OffsetDeleteRequest) -> Verdict:
    refusal = needs_one(asking, request, Operation.DELETE, Kind.GROUP, request.group_id)
    if refusal is not None:
        return refusal
    found = needs_each_topic(asking, request, Operation.READ, OffsetDeleteResponse.Topic)
    if found is not None and found.request is None:  # the group is asked all the same
        nothing = OffsetDeleteRequest(group_id=request.group_id, topics=[])
        return PartlyDenied(nothing, _unless_failed(found))
    return found and PartlyDenied(found.request, _unless_failed(found))


def _unless_failed(found: PartlyDenied) -> Any:
    """What was taken out stands in an answer without an error of its own."""

    def finish(own: Any) -> None:
        if not own.error_code:
            found.finish(own)

    return finish


@guards(DeleteGroupsRequest)
def delete_groups(asking: Authorization, request: DeleteGroupsRequest) -> Verdict:
    request = DeleteGroupsRequest(groups_names=[*dict.fromkeys(request.groups_names)])
    return needs_each(asking, request, Operation.DELETE, Kind.GROUP)


@guards(DescribeGroupsRequest)
def describe_groups(asking: Authorization, request: DescribeGroupsRequest) -> Verdict:
    """Groups that may not be described come first."""
    groups = dict.fromkeys(request.groups)
    allowed = asking.allowed(Operation.DESCRIBE, Kind.GROUP, groups)
    has_bits = request.include_authorized_operations and asking.version >= _GROUP_BITS_SINCE
    if len(allowed) == len(groups) and not has_bits:
        return None
    refused: Any = _of_groups(asking, request, [g for g in request.groups if g not in allowed])
    rest = DescribeGroupsRequest(
        groups=[g for g in request.groups if g in allowed],
        include_authorized_operations=request.include_authorized_operations,
    )
    return PartlyDenied(rest, _described(asking, refused, has_bits=has_bits))


@guards(ConsumerGroupDescribeRequest, ShareGroupDescribeRequest)
def group_describe(asking: Authorization, request: Any) -> Verdict:
    return described_groups(asking, request, _without_secret_topics)


def described_groups(
    asking: Authorization, request: Any, without_secrets: Callable[[Authorization, Any], Any]
) -> PartlyDenied:
    """What becomes of a request that describes groups: of groups with topics that may not be
    described nothing is told."""
    asked: Any = type(request)
    groups, has_bits = request.group_ids, request.include_authorized_operations
    allowed = asking.allowed(Operation.DESCRIBE, Kind.GROUP, groups)
    denied = asked(group_ids=[g for g in groups if g not in allowed])
    refused: Any = asking.refuse(denied, ERRORS[Kind.GROUP])
    rest = asked(
        group_ids=[g for g in groups if g in allowed], include_authorized_operations=has_bits
    )
    described = _described(asking, refused, has_bits=has_bits)

    def finish(own: Any) -> None:
        own.groups = [without_secrets(asking, group) for group in own.groups]
        described(own)

    return PartlyDenied(rest, finish)


def _of_groups(asking: Authorization, request: DescribeGroupsRequest, groups: list[str]) -> Any:
    return asking.refuse(DescribeGroupsRequest(groups=groups), ERRORS[Kind.GROUP])


def _described(asking: Authorization, refused: Any, *, has_bits: bool) -> Any:
    def finish(own: Any) -> None:
        for group in own.groups:
            if has_bits and not group.error_code:
                group.authorized_operations = asking.bits(Kind.GROUP, group.group_id)
        own.groups = [*refused.groups, *own.groups]

    return finish


def _without_secret_topics(asking: Authorization, group: Any) -> Any:
    topics = {
        name
        for member in group.members
        for name in (
            *member.subscribed_topic_names,
            *(t.topic_name for t in member.assignment.topic_partitions),
            *_targets(member),
        )
    }
    allowed = asking.allowed(Operation.DESCRIBE, Kind.TOPIC, topics)
    if len(allowed) == len(topics):
        return group
    refused = type(group)(
        error_code=Error.TOPIC_AUTHORIZATION_FAILED,
        error_message=_SECRET_TOPICS,
        group_id=group.group_id,
        group_state="",
        group_epoch=0,
        assignment_epoch=0,
        assignor_name="",
        members=[],
    )
    refused.authorized_operations = BITS_UNKNOWN
    return refused


def _targets(member: Any) -> list[str]:
    """The topics that a member is to have; of a share group it has them already."""
    target = getattr(member, "target_assignment", None)
    return [] if target is None else [topic.topic_name for topic in target.topic_partitions]


@guards(ListGroupsRequest)
def list_groups(asking: Authorization, request: ListGroupsRequest) -> Verdict:
    """Who may describe the cluster sees all."""
    if asking.may_in_cluster(Operation.DESCRIBE, is_told=False):
        return None

    def finish(own: Any) -> None:
        names = [group.group_id for group in own.groups]
        allowed = asking.allowed(Operation.DESCRIBE, Kind.GROUP, names, is_told=False)
        own.groups = [group for group in own.groups if group.group_id in allowed]

    return PartlyDenied(request, finish)


@guards(ConsumerGroupHeartbeatRequest)
def consumer_group_heartbeat(
    asking: Authorization, request: ConsumerGroupHeartbeatRequest
) -> Verdict:
    """Topics that may not be described refuse the whole heartbeat."""
    refusal = needs_one(asking, request, Operation.READ, Kind.GROUP, request.group_id)
    if refusal is not None:
        return refusal
    names = dict.fromkeys(request.subscribed_topic_names or ())
    if len(asking.allowed(Operation.DESCRIBE, Kind.TOPIC, names)) < len(names):
        return asking.refuse(request, ERRORS[Kind.TOPIC])  # type: ignore[no-any-return]
    return None
