"""The one way in: what every request passes before its handler, and its answer afterwards.

`cluster.chain` is a list of steps. It is empty at first, and then costs nothing. This is where
later features plug in, and none of them in a handler or in net/: a journal, rules and faults,
quotas, authorization. A feature writes a `Step`, and appends it.

Rules:
- Steps see a decoded request in the order of the chain, each once, before the handler. They see its
  end in the reverse order, each once: the response before it is encoded, or None when nothing is
  sent (acks=0, NO_REPLY, a connection that was closed, also while the request was parked). So the
  first step of the chain sees what the client sent, and what it gets.
- A step that does not let a request on sees its end all the same; steps after it see neither.
- While a step holds a request or a response, nothing after it on that connection is served.
- A step closes a connection by `call.close()`. An exception in a step is logged, and closes the
  connection of its call and no other.
- A change of the chain counts for requests that come after it.
- What cannot be decoded closes the connection and comes to no step. A version of ApiVersions that
  is too high comes as an empty request of v0, in which it is answered. Answers that are kept in
  encoded form (net/response_cache.py) are not used while there are steps.

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
"""What a step says: None to leave things as they are, a response to be sent instead, NO_REPLY to
send nothing, PARKED to hold it."""


class Step:
    """One step of the chain. This one does nothing; override what is needed."""

    def before(self, call: Call, request: Request) -> Outcome:
        """A request comes in. None lets it on; a response or NO_REPLY ends it here, in place of the
        handler. PARKED holds it: later `call.go_on()` lets it on, or `call.answer` ends it."""
        return None

    def after(self, call: Call, request: Request, response: Response | None) -> Outcome:
        """The request is answered by `response`, None if by nothing; `call.is_open` says whether
        there still is a client. None lets the response on, with whatever was changed in it; another
        response or NO_REPLY takes its place. PARKED holds it until `call.answer(response)`."""
        return None


class Passage:
    """One request on its way along the chain, to its handler and back."""

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
        """Let the request on from where it is held; without effect if it is not held."""
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
        """Take a response back past the steps that saw the request, as far as none holds it, and
        to the client."""
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
        """The connection is closed: whoever saw the request learns that nothing is sent."""
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
