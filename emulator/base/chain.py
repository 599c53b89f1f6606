"""The chain: what every request passes before its handler, and every response before it is sent.

`cluster.chain` is a list of steps, empty at first. Features that concern requests of any kind plug
in here, and not in a handler or in net/: a journal, rules and faults, quotas, authorization. Such a
feature is a `Step` that is appended to the list. It says which APIs it concerns, and whom it
exempts: a request that passes no step costs no more than with an empty chain.

Rules:
- `before` of each step is called once for each decoded request, in the order of the chain, and then
  the handler.
- `after` of each step is called once for each request that its `before` has seen, in the reverse
  order: with the response before it is encoded, or with None when nothing is sent (acks=0,
  NO_REPLY, a connection that was closed, also while the request was parked). So the first step of
  the chain sees what the client sent, and what the client gets.
- A step may answer in place of the handler; the steps after it then do not see the request. It may
  pass on another request of the same API instead, for instance one with less in it: the steps after
  it, and the handler, see that one, and the steps before it only what came.
- How the answer goes over the wire is up to `call.passage.frames`: functions from the bytes of its
  frame to those that are sent. Partitions of a fetch are refused by `call.passage.refuses`.
- While a step holds a request or a response, later requests on that connection wait.
- A step closes a connection by `call.close()`. An exception in a step is logged, and closes the
  connection of that call only.
- A change of the chain applies to requests that arrive after it.
- What cannot be decoded closes the connection before any step is called; its `malformed` is, with
  what came. A version of ApiVersions that is not served passes as an empty request of v0, the
  version in which it is answered. A request that passes steps is not answered with a response kept
  in encoded form (net/response_cache.py).
- A step that changes something says so with `call.note`: the journal of requests, which is the
  first step while it is on (control/traffic/), shows it. `call.frame` is what the client sent.
- Steps pass in a proxy, too (proxy/upstream.py), where the handler is a real broker.

    class Slow(Step):
        def before(self, call: Call, request: Request) -> Outcome:
            cluster.timers.at(call.now + 1000, call.go_on)
            return PARKED
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableSequence, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ...wire import Buffer, Request, Response, WireError
from .call import NO_REPLY, PARKED, Sentinel
from .logger import log

if TYPE_CHECKING:
    from .call import Call, Principal, Sender

Outcome = Response | Sentinel | None
"""The result of a step: None to change nothing, a response to be sent instead, NO_REPLY to send
nothing, PARKED to hold the request or the response."""
Onward = Outcome | Request
"""The result of a step before the handler: also another request, to be passed on instead."""
_PRINCIPALS_MAX = 1000


class Step:
    """One step of the chain. This one does nothing; a subclass overrides what it needs."""

    rank: ClassVar[int] = 0
    """Steps of a higher rank stay behind others, also those that are appended later: what a broker
    does with what it has received. They belong to one cluster."""

    reads_records: ClassVar[bool] = True
    """Whether it may look at the records of an answer, which then are read before it is sent."""

    def concerns(self, api_key: int) -> bool:
        """Whether requests of an API pass it. When this changes, call `chain.changed()`."""
        return True

    def exempts(self, principal: Principal) -> bool:
        """Whether requests of this client need not pass it, which is so for as long as it is in the
        chain."""
        return False

    def before(self, call: Call, request: Request) -> Onward:
        """A request has arrived. Return None to pass it on, another request to pass that on, or a
        response or NO_REPLY to answer it in place of the handler. Return PARKED to hold it; then
        call `call.go_on()` to pass it on, or `call.answer` to answer it."""
        return None

    def after(self, call: Call, request: Request, response: Response | None) -> Outcome:
        """The request is answered by `response`, or by nothing (None); `call.is_open` says whether
        the client is still connected. Return None to pass the response on, which may have been
        changed in place, or another response or NO_REPLY to replace it. Return PARKED to hold it;
        then call `call.answer(response)`."""
        return None

    def malformed(self, connection: Sender, frame: Buffer, error: WireError, now: int) -> None:
        """A frame, without its size, could not be decoded; the connection is about to be closed."""


class Route:
    __slots__ = ("_by_principal", "requests", "steps")

    def __init__(self, steps: tuple[Step, ...]) -> None:
        self.steps = steps
        self.requests = 0
        """How many have come."""
        self._by_principal: dict[Principal, tuple[Step, ...]] = {}

    def change(self, steps: tuple[Step, ...]) -> None:
        """Requests that come from now on pass these."""
        self.steps = steps
        self._by_principal.clear()

    def steps_for(self, principal: Principal) -> tuple[Step, ...]:
        steps = self._by_principal.get(principal)
        if steps is None:
            if len(self._by_principal) >= _PRINCIPALS_MAX:
                self._by_principal.clear()
            steps = tuple(step for step in self.steps if not step.exempts(principal))
            self._by_principal[principal] = steps
        return steps


class Chain(MutableSequence[Step]):
    def __init__(self) -> None:
        self._steps: list[Step] = []
        self.routes: dict[int, Route] = {}
        """Of the APIs that were asked, by their keys."""

    def route(self, api_key: int) -> Route:
        """The route of an API, which stays its route when the chain changes."""
        route = self.routes.get(api_key)
        if route is None:
            route = self.routes[api_key] = Route(self._of(api_key))
        return route

    def _of(self, api_key: int) -> tuple[Step, ...]:
        return tuple(step for step in self._steps if step.concerns(api_key))

    def changed(self) -> None:
        """There are other steps, or they concern other APIs."""
        for api_key, route in self.routes.items():
            route.change(self._of(api_key))

    def append(self, step: Step) -> None:
        """One more step, behind all of its rank."""
        place = len(self)
        while place and self[place - 1].rank > step.rank:
            place -= 1
        self.insert(place, step)

    def take_over(self, steps: Iterable[Step]) -> None:
        """Have these steps, but for those of a rank, and behind them the ones with a rank that are
        its own."""
        own = [step for step in self if step.rank]
        self[:] = [*(step for step in steps if not step.rank), *own]

    # As a list

    def __len__(self) -> int:
        return len(self._steps)

    def __getitem__(self, index: Any) -> Any:
        return self._steps[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._steps[index] = value
        self.changed()

    def __delitem__(self, index: Any) -> None:
        del self._steps[index]
        self.changed()

    def insert(self, index: int, value: Step) -> None:
        self._steps.insert(index, value)
        self.changed()

    def __eq__(self, other: object) -> bool:
        return self._steps == other

    def __repr__(self) -> str:
        return repr(self._steps)


class InterceptedCall:
    """One request between its connection, the steps and its handler."""

    __slots__ = (
        "_ahead",
        "_call",
        "_handle",
        "_is_held",
        "_passed",
        "_request",
        "denies",
        "frames",
        "refuses",
    )

    def __init__(
        self,
        steps: Sequence[Step],
        call: Call,
        request: Request,
        handle: Callable[[Request], Response | Sentinel],
    ) -> None:
        self._call = call
        self._request = request
        self._handle = handle
        self._ahead = iter(steps)
        # Steps that have seen the request and not yet its end, and what each has seen.
        self._passed: list[tuple[Step, Request]] = []
        self._is_held = True
        self.frames: list[Callable[[bytes], bytes]] = []
        """What makes other bytes of the frame of the answer, its size included, in this order. If
        one of them makes it shorter, the connection is closed after it."""
        self.refuses: Callable[[str, int], None] | None = None
        """Called by Fetch, which need not name what it reads, with the topic and the index of each
        partition; raises Refused for those that fail."""
        self.denies: Callable[[str | None], bool] | None = None
        """Called by Fetch with each topic, None for an id that nothing has: whether the client may
        not read it."""

    @property
    def reads_later(self) -> bool:
        """Whether no step that has seen the request looks at the records of its answer."""
        return not any(step.reads_records for step, _ in self._passed)

    def go_on(self, instead: Request | None = None) -> None:
        """Pass the request on from the step that holds it, or another one instead; without effect
        if none does."""
        if not self._is_held:
            return
        self._is_held = False
        self._request = instead or self._request
        try:
            outcome = self._to_handler()
        except Exception:
            self._failed()
            return
        if outcome is not PARKED:
            self.answer(outcome if isinstance(outcome, Response) else None)

    def _to_handler(self) -> Response | Sentinel:
        for step in self._ahead:
            self._passed.append((step, self._request))
            outcome = step.before(self._call, self._request)
            if not self._call.is_open:
                return NO_REPLY
            if isinstance(outcome, Request):
                self._request = outcome
            elif outcome is not None:
                self._is_held = outcome is PARKED
                return outcome
        return self._handle(self._request)

    def answer(self, response: Response | None) -> None:
        """Pass a response through the steps that saw the request, and on to the client unless one
        of them holds it."""
        self._is_held = False
        call = self._call
        while self._passed:
            step, request = self._passed.pop()
            try:
                outcome = step.after(call, request, response)
            except Exception:
                self._failed()
                return
            if outcome is PARKED:
                return
            if outcome is not None:
                response = outcome if isinstance(outcome, Response) else None
        call.connection.answer(call, response)
        call.passage = None  # a cycle, which would keep the request until it is collected

    def lost(self) -> None:
        """The connection is closed: the steps that saw the request learn that nothing is sent."""
        self._is_held = False
        while self._passed:
            step, request = self._passed.pop()
            try:
                step.after(self._call, request, None)
            except Exception:
                log.exception("a step failed on a request of %s", self._call.connection)
        self._call.passage = None

    def _failed(self) -> None:
        call = self._call
        name = type(self._request).__name__
        log.exception("closing %s: a step failed on its %s", call.connection, name)
        call.close()
