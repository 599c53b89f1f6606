"""Guard: the last step of the chain while there is an authorizer. It asks what a request needs.

What may not be done is taken out of the request before it reaches its handler, and put into the
answer as Kafka answers it; a request that may not be made at all does not reach its handler. So
handlers know nothing of access rules, and without an authorizer nothing is asked. Which operations
an API needs stands in the modules beside this one, each rule registered with `authorize`.

Every denial that a client is sent is an event: "alice may not READ topic orders: ...".
Source: KIP-11; `KafkaApis`, `ControllerApis` and `AuthHelper` of Kafka 4.3.1 (semantics M13, M14).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from ...wire import Request, Response
from ...wire.api import response_class
from ...wire.api.produce import ProduceRequest
from ..base.call import NO_REPLY, Call, Principal
from ..base.chain import Onward, Outcome, Step
from ..security.authorizer.acl import Kind
from .asking import Authorization, Denial, PartlyDenied, Verdict

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..security.authorizer.authorizer import Authorizer

R = TypeVar("R", bound=Request)
Rule: TypeAlias = Callable[[Authorization, R], Verdict]

RULES: dict[int, Rule[Any]] = {}
"""By API key; an API without one is open to anybody."""


def authorize(*requests: type[R]) -> Callable[[Rule[R]], Rule[R]]:
    """Register what decides about the requests of an API."""

    def register(rule: Rule[R]) -> Rule[R]:
        RULES.update({each.api_key: rule for each in requests})
        return rule

    return register


class Guard(Step):
    """Lets pass what the authorizer allows."""

    rank = 2

    def __init__(self, cluster: Cluster, authorizer: Authorizer) -> None:
        self.authorizer = authorizer
        self._cluster = cluster
        self._unfinished: dict[Call, tuple[Authorization, PartlyDenied]] = {}

    def concerns(self, api_key: int) -> bool:
        return api_key in RULES

    def exempts(self, principal: Principal) -> bool:
        """A super user is asked about once."""
        return self.authorizer.allows_all(principal)

    def before(self, call: Call, request: Request) -> Onward:
        asking = Authorization(self._cluster, self.authorizer, call)
        verdict = RULES[call.api_key](asking, request)
        for denial in asking.denials:
            self._tell(call, denial)
        asking.tell_later = partial(self._tell, call)
        if not isinstance(verdict, PartlyDenied):
            return verdict
        if verdict.request is not None:
            self._unfinished[call] = asking, verdict
            return None if verdict.request is request else verdict.request
        if _is_silent(request):
            call.close()
            return NO_REPLY
        answer = response_class(call.api_key)()
        verdict.finish(answer)
        return answer

    def after(self, call: Call, request: Request, response: Response | None) -> Outcome:
        asking, narrowed = self._unfinished.pop(call, (None, None))
        if asking is None or narrowed is None:
            return None
        if response is None:
            if call.is_open and _is_silent(request):
                call.close()
            return NO_REPLY
        own = asking.own_copy(response)
        narrowed.finish(own)
        return own  # type: ignore[no-any-return]

    def _tell(self, call: Call, denial: Denial) -> None:
        operation, kind, name = denial
        who = call.principal
        what = name if kind is not Kind.CLUSTER else ""
        why = self.authorizer.why_not(who, call.client_host, operation, kind, name)
        sentence = f"{_spoken(who)} may not {operation.name} {_place(kind, what)}: {why}"
        call.note(sentence)
        client = call.connection.name or call.client_id
        about = {Kind.TOPIC: "topic", Kind.GROUP: "group"}.get(kind)
        fields = {"client": client, "reason": sentence} | ({about: name} if about else {})
        self._cluster.journal.add("denied", **fields)


def _spoken(principal: Any) -> str:
    return principal.name if principal.kind == "User" else str(principal)


def _place(kind: Kind, name: str) -> str:
    if kind is Kind.CLUSTER:
        return "the cluster"
    word = kind.name.lower().replace("_", " ")
    return f"{word} {name}" if name else f"any {word}"


def _is_silent(request: Request) -> bool:
    return isinstance(request, ProduceRequest) and request.acks == 0
