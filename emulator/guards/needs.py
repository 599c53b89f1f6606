"""What rules ask of several resources at once, each of them once."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

from ...wire import NO_ID, Error, Request
from ..control.rules.entries import Entry
from ..control.rules.places import GROUP, TOPIC, TRANSACTIONAL_ID
from ..control.rules.refusing import levels
from ..security.authorizer.acl import Kind, Operation
from .asking import Authorization, PartlyDenied, Verdict

_IDS_SINCE = 10
ROLES = {Kind.TOPIC: TOPIC, Kind.GROUP: GROUP, Kind.TRANSACTIONAL_ID: TRANSACTIONAL_ID}
"""What an entry of a request calls a resource of a kind."""
ERRORS = {
    Kind.TOPIC: Error.TOPIC_AUTHORIZATION_FAILED,
    Kind.GROUP: Error.GROUP_AUTHORIZATION_FAILED,
    Kind.TRANSACTIONAL_ID: Error.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    Kind.CLUSTER: Error.CLUSTER_AUTHORIZATION_FAILED,
}
"""What is answered without the right to a resource of a kind."""
MESSAGES = {
    Kind.TOPIC: "Topic authorization failed.",
    Kind.GROUP: "Group authorization failed.",
    Kind.TRANSACTIONAL_ID: "Transactional Id authorization failed.",
    Kind.CLUSTER: "Cluster authorization failed.",
}
"""Kafka's sentences for these errors, where an answer has one."""


def lacking(asking: Authorization, operation: Operation, kind: Kind) -> Callable[[Entry], bool]:
    """Whether the client may not do this to the resource that an entry names."""
    known: dict[Any, bool] = {}
    role = ROLES[kind]

    def is_denied(entry: Entry) -> bool:
        name = entry.get(role)
        if name is None:  # a topic id that nothing has
            return False
        if name not in known:
            known[name] = not asking.may(operation, kind, name)
        return known[name]

    return is_denied


def needs_each(
    asking: Authorization,
    request: Request,
    operation: Operation,
    kind: Kind,
    message: str | None = None,
) -> PartlyDenied | None:
    """The request with what the client may not do taken out of it, and refused in the smallest
    parts of its answer."""
    level = max(levels(type(request), asking.version))
    is_denied = lacking(asking, operation, kind)
    return asking.without(request, is_denied, level, ERRORS[kind], message)


def needs_each_topic(
    asking: Authorization, request: Any, operation: Operation, answer: Callable[..., Any]
) -> PartlyDenied | None:
    """The same for an API whose answer has what is refused first, in the order of the request, and
    topics too of which no partition is named; `answer` is the class of what is answered of one."""
    denied: dict[int, Any] = {}
    kept = []
    places = {_key(topic): number for number, topic in reversed([*enumerate(request.topics)])}
    for topic in request.topics:
        name = _name(asking, topic)
        if name is None or asking.may(operation, Kind.TOPIC, name):
            kept.append(topic)
            continue
        first = places[_key(topic)]
        if first not in denied:
            denied[first] = answer(name=topic.name, partitions=[])
            if hasattr(topic, "topic_id"):
                denied[first].topic_id = topic.topic_id
        denied[first].partitions += _refused(topic, answer)
    if not denied:
        return None
    rest = copy(request)
    rest.topics = kept

    def finish(own: Any) -> None:
        missing = {places[_key(t)]: t for t in own.topics if any(map(_is_missing, t.partitions))}
        others: dict[int, Any] = {}
        for topic in own.topics:
            place = places[_key(topic)]
            if place not in missing and others.setdefault(place, topic) is not topic:
                others[place].partitions += topic.partitions
        refused = sorted({**missing, **denied}.items(), key=lambda each: each[0])
        own.topics = [*(topic for _, topic in refused), *others.values()]

    return PartlyDenied(rest if kept else None, finish)


def _refused(topic: Any, answer: Any) -> list[Any]:
    error = ERRORS[Kind.TOPIC]
    return [
        answer.Partition(partition_index=each.partition_index, error_code=error)
        for each in topic.partitions
    ]


def _is_missing(partition: Any) -> bool:
    return partition.error_code in (Error.UNKNOWN_TOPIC_OR_PARTITION, Error.UNKNOWN_TOPIC_ID)


def _key(topic: Any) -> tuple[str, bytes]:
    return topic.name, getattr(topic, "topic_id", NO_ID)


def _name(asking: Authorization, topic: Any) -> str | None:
    if asking.version >= _IDS_SINCE:  # only OffsetCommit has so many versions
        return asking.topic_name(topic.topic_id)
    name: str = topic.name
    return name


def each_once(
    found: PartlyDenied | None, topics: str, partitions: str, index: str
) -> PartlyDenied | None:
    """The same for an API whose answer has each partition of a topic once, in these lists."""
    if found is None:
        return None

    def finish(own: Any) -> None:
        found.finish(own)
        once(own, topics, partitions, index)

    return PartlyDenied(found.request, finish)


def once(own: Any, topics: str, partitions: str, index: str) -> Any:
    """An answer in which each partition of a topic stands once."""
    for topic in getattr(own, topics):
        parts = getattr(topic, partitions)
        setattr(topic, partitions, list({getattr(p, index): p for p in parts}.values()))
    return own


def needs_cluster(
    asking: Authorization, request: Request, *operations: Operation, message: str | None = None
) -> Verdict:
    """The refusal of a request that needs one of these operations on the cluster."""
    if asking.may_in_cluster(*operations):
        return None
    error = ERRORS[Kind.CLUSTER]
    return asking.refuse(request, error, message)  # type: ignore[no-any-return]


def needs_one(
    asking: Authorization,
    request: Request,
    operation: Operation,
    kind: Kind,
    name: str | None,
    message: str | None = None,
) -> Verdict:
    """The refusal of a request that needs an operation on one resource."""
    if asking.may(operation, kind, name):
        return None
    return asking.refuse(request, ERRORS[kind], message)  # type: ignore[no-any-return]
