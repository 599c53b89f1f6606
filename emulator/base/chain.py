"""The chain: what every request passes before its handler, and every response before it is sent.

`cluster.chain` is a list of steps, empty at first; while it is empty it costs nothing. Features
that concern requests of any kind plug in here, and not in a handler or in net/: a journal, rules
and faults, quotas, authorization. Such a feature is a `Step` that is appended to the list.

Rules:
- `before` of each step is called once for each decoded request, in the order of the chain, and then
  the handler.
- `after` of each step is called once for each request that its `before` has seen, in the reverse
  order: with the response before it is encoded, or with None when nothing is sent (acks=0,
  NO_REPLY, a connection that was closed, also while the request was parked). So the first step of
  the chain sees what the client sent, and what the client gets.
- A step may answer in place of the handler; the steps after it then do not see the request.
- While a step holds a request or a response, later requests on that connection wait.
- A step closes a connection by `call.close()`. An exception in a step is logged, and closes the
  connection of that call only.
- A change of the chain applies to requests that arrive after it.
- What cannot be decoded closes the connection before any step is called. A version of ApiVersions
  that is not served passes as an empty request of v0, the version in which it is answered. While
  there are steps, responses kept in encoded form (net/response_cache.py) are not used.

    class Slow(Step):
        def before(self, call: Call, request: Request) -> Outcome:
            cluster.timers.at(call.now + 1000, call.go_on)
            return PARKED
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...wire import Request, Response
from .call import NO_REPLY, PARKED, Sentinel
from .logger import log

if TYPE_CHECKING:
    from .call import Call

Outcome = Response | Sentinel | None
"""What a step returns: None to change nothing, a response to be sent instead, NO_REPLY to send
nothing, PARKED to hold the request or the response."""


class Step:
    """One step of the chain. This one does nothing; a subclass overrides what it needs."""

    def before(self, call: Call, request: Request) -> Outcome:
        """A request has arrived. Return None to pass it on, or a response or NO_REPLY to answer it
        in place of the handler. Return PARKED to hold it; then call `call.go_on()` to pass it on,
        or `call.answer` to answer it."""
        return None

    def after(self, call: Call, request: Request, response: Response | None) -> Outcome:
        """The request is answered by `response`, or by nothing (None); `call.is_open` says whether
        the client is still connected. Return None to pass the response on, which may have been
        changed in place, or another response or NO_REPLY to replace it. Return PARKED to hold it;
        then call `call.answer(response)`."""
        return None


class Passage:
    """One request between its connection, the steps and its handler."""

    __slots__ = ("_ahead", "_call", "_handle", "_is_held", "_passed", "_request")

    def __init__(
        self,
        chain: Sequence[Step],
        call: Call,
        request: Request,
        handle: Callable[[], Response | Sentinel],
    ) -> None:
        self._call = call
        self._request = request
        self._handle = handle
        self._ahead = iter(tuple(chain))
        # Steps that have seen the request and not yet its end.
        self._passed: list[Step] = []
        self._is_held = True

    def go_on(self) -> None:
        """Pass the request on from the step that holds it; without effect if none does."""
        if not self._is_held:
            return
        self._is_held = False
        try:
            outcome = self._to_handler()
        except Exception:
            self._failed()
            return
        if outcome is not PARKED:
            self.answer(outcome if isinstance(outcome, Response) else None)

    def _to_handler(self) -> Response | Sentinel:
        for step in self._ahead:
            self._passed.append(step)
            outcome = step.before(self._call, self._request)
            if not self._call.is_open:
                return NO_REPLY
            if outcome is not None:
                self._is_held = outcome is PARKED
                return outcome
        return self._handle()

    def answer(self, response: Response | None) -> None:
        """Pass a response through the steps that saw the request, and on to the client unless one
        of them holds it."""
        self._is_held = False
        call = self._call
        while self._passed:
            try:
                outcome = self._passed.pop().after(call, self._request, response)
            except Exception:
                self._failed()
                return
            if outcome is PARKED:
                return
            if outcome is not None:
                response = outcome if isinstance(outcome, Response) else None
        call.connection.answer(call, response)

    def lost(self) -> None:
        """The connection is closed: the steps that saw the request learn that nothing is sent."""
        self._is_held = False
        while self._passed:
            try:
                self._passed.pop().after(self._call, self._request, None)
            except Exception:
                log.exception("a step failed on a request of %s", self._call.connection)

    def _failed(self) -> None:
        call = self._call
        name = type(self._request).__name__
        log.exception("closing %s: a step failed on its %s", call.connection, name)
        call.close()
