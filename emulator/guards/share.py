"""What the APIs of share groups need: the group, each topic; to keep their state, to be a broker.

Left out: a right to a topic that is taken away while a session has it: it is still read there.
"""

from __future__ import annotations

from copy import copy
from typing import Any

from ...wire import NO_ID, Error, Refused
from ...wire.api.alter_share_group_offsets import AlterShareGroupOffsetsRequest
from ...wire.api.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsResponse,
)
from ...wire.api.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsResponse,
)
from ...wire.api.share_acknowledge import ShareAcknowledgeRequest
from ...wire.api.share_fetch import ShareFetchRequest
from ..control.rules.places import TOPIC
from ..control.rules.refusing import levels
from ..handlers.share_acknowledgements import check_member
from ..security.authorizer.acl import Kind, Operation
from .asking import (
    ERRORS,
    MESSAGES,
    Authorization,
    PartlyDenied,
    Verdict,
    lacking,
    needs_one,
)
from .guard import guards


@guards(ShareFetchRequest, ShareAcknowledgeRequest)
def records(asking: Authorization, request: Any) -> Verdict:
    """Without a group there is nothing to ask; what no member can be is told before the topics."""
    if request.group_id is None:
        return None
    refusal = needs_one(asking, request, Operation.READ, Kind.GROUP, request.group_id)
    if refusal is not None:
        return refusal
    try:
        check_member(asking.cluster, request.group_id, request.member_id)
    except Refused:
        return None
    level = max(levels(type(request), asking.version))
    is_denied = lacking(asking, Operation.READ, Kind.TOPIC)
    found = asking.without(request, is_denied, level, ERRORS[Kind.TOPIC])
    if found is None:
        return None
    rest = found.request or asking.emptied(request)  # its session lives on

    def finish(own: Any) -> None:
        if not own.error_code:
            found.finish(own)

    return PartlyDenied(rest, finish)


@guards(AlterShareGroupOffsetsRequest)
def alter_offsets(asking: Authorization, request: AlterShareGroupOffsetsRequest) -> Verdict:
    """Of a topic that may not be read nothing is told if none of its partitions is named."""
    message = MESSAGES[Kind.GROUP]
    refusal = needs_one(asking, request, Operation.READ, Kind.GROUP, request.group_id, message)
    if refusal is not None:
        return refusal
    level = max(levels(AlterShareGroupOffsetsRequest, asking.version))
    is_denied = lacking(asking, Operation.READ, Kind.TOPIC)
    rest = copy(request)
    rest.topics = [
        t for t in request.topics if t.partitions or not is_denied({TOPIC: t.topic_name})
    ]
    found = asking.without(rest, is_denied, level, ERRORS[Kind.TOPIC], MESSAGES[Kind.TOPIC])
    narrowed = rest if found is None else found.request

    def finish(own: Any) -> None:
        if found is not None and not own.error_code:
            found.finish(own)
            for each in own.responses:
                topic = asking.cluster.topics.get(each.topic_name)
                if topic is not None:
                    each.topic_id = topic.id

    return PartlyDenied(narrowed, finish)


@guards(DeleteShareGroupOffsetsRequest)
def delete_offsets(asking: Authorization, request: DeleteShareGroupOffsetsRequest) -> Verdict:
    message = MESSAGES[Kind.GROUP]
    refusal = needs_one(asking, request, Operation.DELETE, Kind.GROUP, request.group_id, message)
    if refusal is not None:
        return refusal
    names = [topic.topic_name for topic in request.topics]
    allowed = asking.allowed(Operation.READ, Kind.TOPIC, names)
    if allowed.issuperset(names):
        return None
    answers = [
        DeleteShareGroupOffsetsResponse.Topic(
            topic_name=name,
            topic_id=NO_ID,
            error_code=ERRORS[Kind.TOPIC],
            error_message=MESSAGES[Kind.TOPIC],
        )
        for name in names
        if name not in allowed
    ]
    kept = [topic for topic in request.topics if topic.topic_name in allowed]
    narrowed = DeleteShareGroupOffsetsRequest(group_id=request.group_id, topics=kept)

    def finish(own: Any) -> None:
        if not own.error_code:  # of the group, which is asked in any case
            own.responses += answers

    return PartlyDenied(narrowed, finish)


@guards(DescribeShareGroupOffsetsRequest)
def describe_offsets(asking: Authorization, request: DescribeShareGroupOffsetsRequest) -> Verdict:
    """ "All topics" leaves out what may not be described."""
    answer = DescribeShareGroupOffsetsResponse.Group
    kept: list[Any] = []
    refused: dict[int, Any] = {}
    denied: list[list[Any] | None] = []
    for number, group in enumerate(request.groups):
        if not asking.may(Operation.DESCRIBE, Kind.GROUP, group.group_id):
            refused[number] = answer(
                group_id=group.group_id, topics=[], error_code=ERRORS[Kind.GROUP]
            )
            continue
        names = [topic.topic_name for topic in group.topics or ()]
        allowed = asking.allowed(Operation.DESCRIBE, Kind.TOPIC, names)
        topics, without = group.topics, None
        if group.topics is not None:
            topics = [topic for topic in group.topics if topic.topic_name in allowed]
            without = [topic for topic in group.topics if topic.topic_name not in allowed]
        denied.append(without)
        kept.append(DescribeShareGroupOffsetsRequest.Group(group_id=group.group_id, topics=topics))

    def finish(own: Any) -> None:
        for group, without in zip(own.groups, denied, strict=True):
            if not group.error_code:
                _finish(asking, group, without)
        for number, each in refused.items():
            own.groups.insert(number, each)

    narrowed = DescribeShareGroupOffsetsRequest(groups=kept) if kept else None
    return PartlyDenied(narrowed, finish)


def _finish(asking: Authorization, group: Any, denied: list[Any] | None) -> None:
    if denied is None:
        names = [topic.topic_name for topic in group.topics]
        seen = asking.allowed(Operation.DESCRIBE, Kind.TOPIC, names, is_told=False)
        group.topics = [topic for topic in group.topics if topic.topic_name in seen]
        return
    topic = DescribeShareGroupOffsetsResponse.Group.Topic
    for each in denied:
        partitions = [
            topic.Partition(
                partition_index=index,
                start_offset=-1,
                leader_epoch=0,
                error_code=Error.TOPIC_AUTHORIZATION_FAILED,
                error_message=MESSAGES[Kind.TOPIC],
            )
            for index in each.partitions
        ]
        group.topics.append(
            topic(topic_name=each.topic_name, topic_id=NO_ID, partitions=partitions)
        )
