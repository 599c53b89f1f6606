"""Asking: one request, and what the authorizer says to it.

A denial that the client is told of is kept, for the journal to tell (guard.py); one that only
leaves something out of an answer is not, as in Kafka's audit log. Of several resources of a request
each is asked for once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ...wire import NO_ID, Error, Request, Response
from ...wire.api import response_class
from ..base.call import Sentinel
from ..control.rules.answering import own_copy
from ..control.rules.entries import Entry, sifted
from ..control.rules.failing import Part, merge
from ..control.rules.places import GROUP, TOPIC, TRANSACTIONAL_ID
from ..control.rules.refusing import levels, refused, whole
from ..security.authorizer.acl import CLUSTER_NAME, OPERATIONS, Kind, Operation

if TYPE_CHECKING:
    from ..base.call import Call
    from ..cluster import Cluster
    from ..security.authorizer.authorizer import Authorizer


class Denial(NamedTuple):
    """Something that the client may not do."""

    operation: Operation
    kind: Kind
    name: str


class PartlyDenied(NamedTuple):
    """A request that goes on with less in it, or all of it, and what becomes of its answer."""

    request: Request | None
    """None if nothing is left of it: then `finish` gets an answer without entries."""
    finish: Callable[[Any], None]
    """Puts into the answer, which is the client's own, what was taken out of the request."""


Verdict: TypeAlias = PartlyDenied | Response | Sentinel | None
"""None to pass the request on, a response or NO_REPLY to refuse all of it, or a part of it."""
BITS_UNKNOWN = -(2**31)
"""The operations of what was not asked for, or may not be described."""


class Authorization:
    """A request, and who asks."""

    def __init__(self, cluster: Cluster, authorizer: Authorizer, call: Call) -> None:
        self.cluster = cluster
        self.call = call
        self.version = call.version
        self.denials: dict[Denial, None] = {}
        self.tell_later: Callable[[Denial], None] = lambda denial: None
        """Called with a denial that comes while the request is served, or answered."""
        self._authorizer = authorizer

    def may(
        self, operation: Operation, kind: Kind, name: str | None, *, is_told: bool = True
    ) -> bool:
        """Whether the client may do this to a resource."""
        call, name = self.call, name or ""
        is_allowed = self._authorizer.may(call.principal, call.client_host, operation, kind, name)
        if not is_allowed and is_told:
            denial = Denial(operation, kind, name)
            if denial not in self.denials:
                self.denials[denial] = None
                self.tell_later(denial)
        return is_allowed

    def may_in_cluster(self, *operations: Operation, is_told: bool = True) -> bool:
        """Whether the client may do one of these to the cluster; told is the last of them."""
        last = operations[-1]
        return any(
            self.may(each, Kind.CLUSTER, CLUSTER_NAME, is_told=is_told and each is last)
            for each in operations
        )

    def may_any(self, operation: Operation, kind: Kind) -> bool:
        """Whether the client may do this to any resource of a kind."""
        call = self.call
        is_allowed = self._authorizer.may_any(call.principal, call.client_host, operation, kind)
        if not is_allowed:
            self.denials[Denial(operation, kind, "")] = None
        return is_allowed

    def allowed(
        self, operation: Operation, kind: Kind, names: Iterable[str], *, is_told: bool = True
    ) -> set[str]:
        """Those of several resources to which the client may do this."""
        return {n for n in dict.fromkeys(names) if self.may(operation, kind, n, is_told=is_told)}

    def bits(self, kind: Kind, name: str) -> int:
        """What the client may do to a resource, as bits by the operations' numbers (KIP-430)."""
        found = 0
        for operation in OPERATIONS[kind]:
            if self.may(operation, kind, name, is_told=False):
                found |= 1 << operation
        return found

    def cluster_bits(self) -> int:
        """The same of the cluster; nothing for who may not describe it."""
        if not self.may_in_cluster(Operation.DESCRIBE):
            return 0
        return self.bits(Kind.CLUSTER, CLUSTER_NAME)

    def topic_name(self, topic_id: bytes) -> str | None:
        """The name of the topic with this id."""
        topic = self.cluster.topics.by_id(topic_id)
        return None if topic is None else topic.name

    # Answers

    def refuse(self, request: Request, error: Error, message: str | None = None) -> Any:
        """The answer that refuses all of a request, as Kafka makes it: an empty one in a version
        that has no place for an error."""
        where = whole(type(request), self.version)
        if not where:
            return response_class(request.api_key)()
        return refused(request, self.version, where, error, message)

    def without(
        self,
        request: Request,
        is_denied: Callable[[Entry], bool],
        level: int,
        error: Error,
        message: str | None = None,
    ) -> PartlyDenied | None:
        """The request without the entries that are denied; the answer has this error for them, at
        this level of it."""
        taken, rest = sifted(request, self.version, self.topic_name, is_denied)
        if taken is None:
            return None
        answer = refused(taken, self.version, frozenset({level}), error, message)
        part = Part(request, taken, answer)

        def finish(own: Any) -> None:
            merge(own, part, self.version)

        return PartlyDenied(rest, finish)

    def emptied(self, request: Any) -> Any:
        """The request without its topics."""
        rest = copy(request)
        rest.topics = []
        return rest

    def own_copy(self, response: Response) -> Any:
        """A response whose parts are in no other answer."""
        return own_copy(response, self.version)


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


def permission(operation: Operation) -> str:
    """What Kafka says besides the error; there, the request follows, with its connection."""
    return f"Request needs {operation.name} permission."
