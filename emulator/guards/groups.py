"""What the APIs of groups and their offsets need (semantics M13), beyond the rows of table.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...wire import Error
from ...wire.api.consumer_group_describe import ConsumerGroupDescribeRequest
from ...wire.api.delete_groups import DeleteGroupsRequest
from ...wire.api.describe_groups import DescribeGroupsRequest
from ...wire.api.list_groups import ListGroupsRequest
from ...wire.api.offset_fetch import OffsetFetchRequest
from ...wire.api.share_group_describe import ShareGroupDescribeRequest
from ...wire.api.streams_group_describe import StreamsGroupDescribeRequest
from ...wire.api.sync_group import SyncGroupRequest
from ..division.division import smallest
from ..security.authorizer.acl import Kind, Operation
from .asking import (
    BITS_UNKNOWN,
    Authorization,
    PartlyDenied,
    Verdict,
    lacking,
    needs_one,
)
from .guard import authorize

_GROUP_BITS_SINCE = 3
_SECRET_TOPICS_OF_STREAMS = (
    "The described group uses topics that the client is not authorized to describe."
)
_SECRET_TOPICS = "The group has described topic(s) that the client is not authorized to describe."


@authorize(SyncGroupRequest)
def sync_group(asking: Authorization, request: SyncGroupRequest) -> Verdict:
    """What version 5 must name comes first: without it the handler refuses the request."""
    is_whole = request.protocol_type is not None and request.protocol_name is not None
    if asking.version >= _PROTOCOL_SINCE and not is_whole:
        return None
    return needs_one(asking, request, Operation.READ, Kind.GROUP, request.group_id)


_PROTOCOL_SINCE = 5


@authorize(DeleteGroupsRequest)
def delete_groups(asking: Authorization, request: DeleteGroupsRequest) -> Verdict:
    request = DeleteGroupsRequest(groups_names=[*dict.fromkeys(request.groups_names)])
    return asking.without(request, lacking(asking, Operation.DELETE, Kind.GROUP))


@authorize(DescribeGroupsRequest)
def describe_groups(asking: Authorization, request: DescribeGroupsRequest) -> Verdict:
    lacks = lacking(asking, Operation.DESCRIBE, Kind.GROUP)
    if not request.include_authorized_operations or asking.version < _GROUP_BITS_SINCE:
        return asking.without(request, lacks)
    return asking.without(request, lacks, lambda own: _add_bits(asking, own))


@authorize(ConsumerGroupDescribeRequest, ShareGroupDescribeRequest)
def group_describe(asking: Authorization, request: Any) -> Verdict:
    return _described_groups(asking, request, _topics_of_members, _SECRET_TOPICS, "assignor_name")


@authorize(StreamsGroupDescribeRequest)
def streams_group_describe(asking: Authorization, request: StreamsGroupDescribeRequest) -> Verdict:
    return _described_groups(asking, request, _topics_of_topology, _SECRET_TOPICS_OF_STREAMS)


def _described_groups(
    asking: Authorization,
    request: Any,
    topics_of: Callable[[Any], set[str]],
    secret: str,
    own_field: str = "",
) -> Verdict:
    """What becomes of a request that describes groups: of groups with topics that may not be
    described nothing is answered but the sentence `secret`. `own_field`: a text that only groups of
    this type have."""

    def shown(group: Any) -> Any:
        names = topics_of(group)
        if len(asking.allowed(Operation.DESCRIBE, Kind.TOPIC, names)) == len(names):
            return group
        return type(group)(
            error_code=Error.TOPIC_AUTHORIZATION_FAILED,
            error_message=secret,
            group_id=group.group_id,
            group_state="",
            group_epoch=0,
            assignment_epoch=0,
            members=[],
            authorized_operations=BITS_UNKNOWN,
            **({own_field: ""} if own_field else {"topology": None}),
        )

    def hide(own: Any) -> None:
        own.groups = [shown(group) for group in own.groups]
        if request.include_authorized_operations:
            _add_bits(asking, own)

    return asking.without(request, lacking(asking, Operation.DESCRIBE, Kind.GROUP), hide)


def _add_bits(asking: Authorization, own: Any) -> None:
    for group in own.groups:
        if not group.error_code:
            group.authorized_operations = asking.bits(Kind.GROUP, group.group_id)


def _topics_of_members(group: Any) -> set[str]:
    return {
        name
        for member in group.members
        for name in (
            *member.subscribed_topic_names,
            *(t.topic_name for t in member.assignment.topic_partitions),
            *_targets(member),
        )
    }


def _targets(member: Any) -> list[str]:
    """The topics that a member is to have; of a share group it has them already."""
    target = getattr(member, "target_assignment", None)
    return [] if target is None else [topic.topic_name for topic in target.topic_partitions]


@authorize(ListGroupsRequest)
def list_groups(asking: Authorization, request: ListGroupsRequest) -> Verdict:
    """Who may describe the cluster sees all."""
    if asking.may_in_cluster(Operation.DESCRIBE, is_logged=False):
        return None

    def finish(own: Any) -> None:
        names = [group.group_id for group in own.groups]
        allowed = asking.allowed(Operation.DESCRIBE, Kind.GROUP, names, is_logged=False)
        own.groups = [group for group in own.groups if group.group_id in allowed]

    return PartlyDenied(request, finish)


def _topics_of_topology(group: Any) -> set[str]:
    return {
        name
        for each in (() if group.topology is None else group.topology.subtopologies)
        for name in (
            *each.source_topics,
            *each.repartition_sink_topics,
            *(topic.name for topic in each.repartition_source_topics),
            *(topic.name for topic in each.state_changelog_topics),
        )
    }


_GROUPS_SINCE, _IDS_SINCE = 8, 10


@authorize(OffsetFetchRequest)
def offset_fetch(asking: Authorization, request: OffsetFetchRequest) -> Verdict:
    """ "All topics" leaves out what may not be described."""
    lacks = lacking(asking, Operation.DESCRIBE, Kind.TOPIC)
    if asking.version < _GROUPS_SINCE:
        refusal = needs_one(asking, request, Operation.DESCRIBE, Kind.GROUP, request.group_id)
        if refusal is not None or request.topics is not None:
            return refusal or asking.without(request, lacks)
        return PartlyDenied(request, lambda own: _hide(asking, own))
    of_all = {group.group_id for group in request.groups if group.topics is None}

    def hide(own: Any) -> None:
        for group in own.groups:
            if group.group_id in of_all:
                _hide(asking, group)

    of_groups = lacking(asking, Operation.DESCRIBE, Kind.GROUP)
    refuses = {1: of_groups, smallest(request, asking.version): lacks}
    return asking.without(request, refuses, hide if of_all else None)


def _hide(asking: Authorization, answer: Any) -> None:
    answer.topics = [each for each in answer.topics if _is_shown(asking, each)]


def _is_shown(asking: Authorization, topic: Any) -> bool:
    by_id = asking.version >= _IDS_SINCE
    name = asking.topic_name(topic.topic_id) if by_id else topic.name
    return name is None or asking.may(Operation.DESCRIBE, Kind.TOPIC, name, is_logged=False)
