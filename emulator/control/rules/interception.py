"""Meeting: one request and the rules of its API, from its arrival to its answer.

Rules are asked in the order in which they were set, and each sees what those before it have left.
One that answers the request, drops it or disconnects ends that: those after it are not asked. The
same order holds for what they do to the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ....wire import Request, Response
from ...base.call import NO_REPLY, PARKED, Sentinel
from ...base.chain import Onward, Outcome

if TYPE_CHECKING:
    from ...base.call import Call
    from .rule import Rule
    from .rules import Rules
    from .verb import Verb


class Interception:
    def __init__(self, rules: Rules, call: Call, request: Request, ahead: list[Rule]) -> None:
        self.rules = rules
        self.call = call
        self.request = request
        """As it is passed on."""
        self.version = call.version
        self.kept: dict[Verb, Any] = {}
        """What a verb keeps from the request for its answer."""
        self._came = request
        self._ahead = iter(ahead)
        self._met: list[tuple[Verb, Request]] = []
        self._behind: Iterator[tuple[Verb, Request]] = iter(())
        self._answer: Response | None = None
        self._resume: Callable[[], None] | None = None
        self.ends: Callable[[], None] | None = None
        """Called when the client is gone while something holds this."""

    def begin(self) -> Onward:
        """Ask each rule that is ahead. Returns what the step is to return."""
        for rule in self._ahead:
            if not rule.takes(self):
                continue
            self._met.append((rule.verb, self.request))
            outcome = rule.verb.before(self)
            if not self.call.is_open:
                return NO_REPLY
            if isinstance(outcome, Request):
                self.request = outcome
            elif outcome is not None:
                if self._resume is None:  # it ends here, and is not held for a while
                    for other in self._ahead:
                        other.passed_by(self, rule)
                return outcome
        return None if self.request is self._came else self.request

    def end(self, response: Response | None) -> Outcome:
        """It is answered: each rule that was met does its part. Returns as the step does."""
        self._answer, self._behind = response, iter(self._met)
        return self._end()

    def _end(self) -> Outcome:
        for verb, request in self._behind:
            if verb.is_late and not (
                verb.has_effect(self, self._answer) and verb.rule.counts(self, request)
            ):
                continue
            outcome = verb.after(self, self._answer)
            if not self.call.is_open:
                return NO_REPLY
            if isinstance(outcome, Sentinel):
                return outcome
            if outcome is not None:
                self._answer = outcome
        return self._answer

    def hold(self, *, is_answered: bool) -> Sentinel:
        """Go on when `resume` is called; the request, or its answer if it is answered."""
        self._resume = self._resume_answer if is_answered else self._resume_request
        if is_answered:  # the passage knows no more of this step
            self.call.on_lost = self.lost
        return PARKED

    def resume(self) -> None:
        """Go on with what is held."""
        resume, self._resume, self.ends = self._resume, None, None
        if resume is not None and self.call.is_open:
            resume()

    def _resume_request(self) -> None:
        outcome = self.begin()
        if outcome is PARKED:
            return
        if outcome is None or isinstance(outcome, Request):
            self.call.go_on(self.request)
        else:
            self.call.answer(outcome if isinstance(outcome, Response) else None)

    def _resume_answer(self) -> None:
        outcome = self._end()
        if outcome is not PARKED:
            self.call.answer(outcome if isinstance(outcome, Response) else None)

    def lost(self) -> None:
        """The client is gone."""
        self._resume = None
        ends, self.ends = self.ends, None
        if ends is not None:
            ends()
