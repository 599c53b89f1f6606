"""Asking: one request, and what the authorizer says to it.

A denial that the client is sent is kept, for the journal to tell (guard.py); one that only
leaves something out of an answer is not, as in Kafka's audit log. Of several resources of a request
each is asked for once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ...wire import Error, Request, Response
from ...wire.api import response_class
from ..base.call import Sentinel
from ..division.division import Refusal, Refuse, divide, own_copy
from ..division.entries import Entry
from ..division.places import GROUP, TOPIC, TRANSACTIONAL_ID
from ..division.refusing import refused, whole
from ..security.authorizer.acl import CLUSTER_NAME, OPERATIONS, Kind, Operation

if TYPE_CHECKING:
    from ..base.call import Call
    from ..cluster import Cluster
    from ..security.authorizer.authorizer import Authorizer


class Denial(NamedTuple):
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
        self, operation: Operation, kind: Kind, name: str | None, *, is_logged: bool = True
    ) -> bool:
        call, name = self.call, name or ""
        is_allowed = self._authorizer.may(call.principal, call.client_host, operation, kind, name)
        if not is_allowed and is_logged:
            denial = Denial(operation, kind, name)
            if denial not in self.denials:
                self.denials[denial] = None
                self.tell_later(denial)
        return is_allowed

    def may_in_cluster(self, *operations: Operation, is_logged: bool = True) -> bool:
        """Whether the client may do one of these to the cluster; the last of them is logged."""
        last = operations[-1]
        return any(
            self.may(each, Kind.CLUSTER, CLUSTER_NAME, is_logged=is_logged and each is last)
            for each in operations
        )

    def may_any(self, operation: Operation, kind: Kind) -> bool:
        call = self.call
        is_allowed = self._authorizer.may_any(call.principal, call.client_host, operation, kind)
        if not is_allowed:
            self.denials[Denial(operation, kind, "")] = None
        return is_allowed

    def allowed(
        self, operation: Operation, kind: Kind, names: Iterable[str], *, is_logged: bool = True
    ) -> set[str]:
        return {
            n for n in dict.fromkeys(names) if self.may(operation, kind, n, is_logged=is_logged)
        }

    def bits(self, kind: Kind, name: str) -> int:
        """What the client may do to a resource, as bits by the operations' numbers (KIP-430)."""
        found = 0
        for operation in OPERATIONS[kind]:
            if self.may(operation, kind, name, is_logged=False):
                found |= 1 << operation
        return found

    def cluster_bits(self) -> int:
        """The same of the cluster; nothing for who may not describe it."""
        if not self.may_in_cluster(Operation.DESCRIBE):
            return 0
        return self.bits(Kind.CLUSTER, CLUSTER_NAME)

    def topic_name(self, topic_id: bytes) -> str | None:
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
        refuse: Refuse | Mapping[int, Refuse],
        before: Callable[[Any], None] | None = None,
    ) -> PartlyDenied | None:
        """The request without what is refused of it (`divide`), which is answered with its error;
        `before` changes the answer for the rest before it has both. None if neither is there."""
        division = divide(request, self.version, self.topic_name, refuse)
        if division is None:
            return None if before is None else PartlyDenied(request, before)
        join = division.join
        if before is None:
            return PartlyDenied(division.rest, join)

        def finish(own: Any) -> None:
            before(own)
            join(own)

        return PartlyDenied(division.rest, finish)

    def own_copy(self, response: Response) -> Any:
        """A response whose parts are in no other answer."""
        return own_copy(response, self.version)


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


def lacking(
    asking: Authorization, operation: Operation, kind: Kind, message: str | None = None
) -> Refuse:
    """Refuses what the client may not do to the resource that an entry names."""
    known: dict[Any, Refusal | None] = {None: None}  # a topic id that nothing has
    role, refusal = ROLES[kind], Refusal(ERRORS[kind], message)

    def refuse(entry: Entry) -> Refusal | None:
        name = entry.get(role)
        if name not in known:
            known[name] = None if asking.may(operation, kind, name) else refusal
        return known[name]

    return refuse


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
