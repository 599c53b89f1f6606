"""What OffsetFetch needs: the group, and each topic; "all topics" leaves out what may not be seen.

A group's own error (a member that is unknown, say) stands alone: then nothing is said of topics.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

from ...wire import Error
from ...wire.api.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from ..security.authorizer.acl import Kind, Operation
from .asking import Authorization, PartlyDenied, Verdict
from .guard import guards
from .needs import ERRORS, needs_one

_GROUPS_SINCE, _IDS_SINCE = 8, 10
_ANSWER = OffsetFetchResponse


@guards(OffsetFetchRequest)
def offset_fetch(asking: Authorization, request: OffsetFetchRequest) -> Verdict:
    if asking.version >= _GROUPS_SINCE:
        return _of_groups(asking, request)
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


def _of_groups(asking: Authorization, request: OffsetFetchRequest) -> Verdict:
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
