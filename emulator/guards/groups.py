"""What the APIs of groups and their offsets need (semantics M13), beyond the rows of table.py. "All
topics" leaves out what may not be seen.

A group's own error (a member that is unknown, say) stands alone: then nothing is said of topics.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

from ...wire import Error
from ...wire.api.consumer_group_describe import ConsumerGroupDescribeRequest
from ...wire.api.delete_groups import DeleteGroupsRequest
from ...wire.api.describe_groups import DescribeGroupsRequest
from ...wire.api.list_groups import ListGroupsRequest
from ...wire.api.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse
from ...wire.api.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from ...wire.api.share_group_describe import ShareGroupDescribeRequest
from ...wire.api.streams_group_describe import StreamsGroupDescribeRequest
from ...wire.api.sync_group import SyncGroupRequest
from ..security.authorizer.acl import Kind, Operation
from .asking import (
    BITS_UNKNOWN,
    ERRORS,
    Authorization,
    PartlyDenied,
    Verdict,
    needs_each,
    needs_each_topic,
    needs_one,
)
from .guard import guards

_GROUP_BITS_SINCE = 3
_SECRET_TOPICS_OF_STREAMS = (
    "The described group uses topics that the client is not authorized to describe."
)
_SECRET_TOPICS = "The group has described topic(s) that the client is not authorized to describe."


@guards(SyncGroupRequest)
def sync_group(asking: Authorization, request: SyncGroupRequest) -> Verdict:
    """What version 5 must name comes first: without it the handler refuses the request."""
    is_whole = request.protocol_type is not None and request.protocol_name is not None
    if asking.version >= _PROTOCOL_SINCE and not is_whole:
        return None
    return needs_one(asking, request, Operation.READ, Kind.GROUP, request.group_id)


_PROTOCOL_SINCE = 5


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
    return _described_groups(asking, request, _topics_of_members, _SECRET_TOPICS, "assignor_name")


@guards(StreamsGroupDescribeRequest)
def streams_group_describe(asking: Authorization, request: StreamsGroupDescribeRequest) -> Verdict:
    return _described_groups(asking, request, _topics_of_topology, _SECRET_TOPICS_OF_STREAMS)


def _described_groups(
    asking: Authorization,
    request: Any,
    topics_of: Callable[[Any], set[str]],
    secret: str,
    own_field: str = "",
) -> PartlyDenied:
    """What becomes of a request that describes groups: of groups with topics that may not be
    described nothing is told but the sentence `secret`. `own_field`: a text that only groups of
    this type have."""
    asked: Any = type(request)
    groups, has_bits = request.group_ids, request.include_authorized_operations
    allowed = asking.allowed(Operation.DESCRIBE, Kind.GROUP, groups)
    denied = asked(group_ids=[g for g in groups if g not in allowed])
    refused: Any = asking.refuse(denied, ERRORS[Kind.GROUP])
    rest = asked(
        group_ids=[g for g in groups if g in allowed], include_authorized_operations=has_bits
    )
    described = _described(asking, refused, has_bits=has_bits)

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

    def finish(own: Any) -> None:
        own.groups = [shown(group) for group in own.groups]
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
_ANSWER = OffsetFetchResponse


@guards(OffsetFetchRequest)
def offset_fetch(asking: Authorization, request: OffsetFetchRequest) -> Verdict:
    if asking.version >= _GROUPS_SINCE:
        return _offsets_of_groups(asking, request)
    refusal = needs_one(asking, request, Operation.DESCRIBE, Kind.GROUP, request.group_id)
    if refusal is not None:
        return refusal
    allowed, denied = _split(asking, request.topics)
    narrowed = OffsetFetchRequest(
        group_id=request.group_id, topics=allowed, require_stable=request.require_stable
    )

    def finish(own: Any) -> None:
        if not own.error_code:
            _finish(asking, own, denied, _ANSWER.Topic)

    return PartlyDenied(narrowed, finish)


def _offsets_of_groups(asking: Authorization, request: OffsetFetchRequest) -> Verdict:
    """The answer has the groups in their order."""
    refused: dict[int, Any] = {}
    denied: list[list[Any] | None] = []
    rest = []
    for number, group in enumerate(request.groups):
        if not asking.may(Operation.DESCRIBE, Kind.GROUP, group.group_id):
            refused[number] = _ANSWER.Group(
                group_id=group.group_id, topics=[], error_code=ERRORS[Kind.GROUP]
            )
            continue
        topics, without = _split(asking, group.topics)
        denied.append(without)
        rest.append(
            OffsetFetchRequest.Group(
                group_id=group.group_id,
                member_id=group.member_id,
                member_epoch=group.member_epoch,
                topics=topics,
            )
        )

    def finish(own: Any) -> None:
        for answer, without in zip(own.groups, denied, strict=True):
            if not answer.error_code:
                _finish(asking, answer, without, _ANSWER.Group.Topic)
        for number, answer in refused.items():
            own.groups.insert(number, answer)

    narrowed = OffsetFetchRequest(groups=rest, require_stable=request.require_stable)
    return PartlyDenied(narrowed if rest else None, finish)


def _name(asking: Authorization, topic: Any) -> str | None:
    """The name of a topic; None for an id that nothing has."""
    if asking.version >= _IDS_SINCE:
        return asking.topic_name(topic.topic_id)
    name: str = topic.name
    return name


def _split(asking: Authorization, topics: list[Any] | None) -> tuple[Any, list[Any] | None]:
    """Topics that go on, and those whose answer has an error, in their order: they may not be
    described, or their id is not known. None for all of them."""
    if topics is None:
        return None, None
    allowed: list[Any] = []
    odd: list[Any] = []
    for topic in topics:
        name = _name(asking, topic)
        may = name is None or asking.may(Operation.DESCRIBE, Kind.TOPIC, name)
        if may:
            allowed.append(topic)
        if not may or name is None:
            odd.append((topic, may))
    return allowed, odd


def _finish(asking: Authorization, answer: Any, odd: list[Any] | None, topic: Any) -> None:
    if odd is None:
        answer.topics = [each for each in answer.topics if _is_shown(asking, each)]
        return
    if all(may for _, may in odd):
        return
    unknown = iter([each for each in answer.topics if _name(asking, each) is None])
    answer.topics = [each for each in answer.topics if _name(asking, each) is not None]
    for each, may in odd:
        if may:
            answer.topics += islice(unknown, 1)
            continue
        partitions = [
            topic.Partition(
                partition_index=index,
                committed_offset=-1,
                metadata="",
                error_code=Error.TOPIC_AUTHORIZATION_FAILED,
            )
            for index in each.partition_indexes
        ]
        made = topic(name=each.name, partitions=partitions)
        if asking.version >= _IDS_SINCE:
            made.topic_id = each.topic_id
        answer.topics.append(made)


def _is_shown(asking: Authorization, topic: Any) -> bool:
    name = _name(asking, topic)
    return name is None or asking.may(Operation.DESCRIBE, Kind.TOPIC, name, is_told=False)
