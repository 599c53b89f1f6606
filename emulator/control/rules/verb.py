"""Verb: what a rule does to the requests for which it takes effect, and to their answers.

A function of the test that is called when a request comes, while that waits: in a thread of its
own, so that every verb of the broker may be used in it, one that ends the broker too.

Requests and answers that are lost.

A connection answers in order, so nothing that comes after what was lost is answered either: clients
see a broker that is silent, until their own time for a request is over and they connect again.

Requests that are noticed, and changed in nothing.

Requests and answers that wait: for a time, or until the test lets them go on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from ....wire import Response
from ...base.call import NO_REPLY, PARKED, Call
from ...base.chain import Onward, Outcome
from ...base.timers import Timer

if TYPE_CHECKING:
    from .interception import Interception
    from .rule import Rule


class Verb:
    """This one does nothing; a subclass overrides what it needs."""

    is_late = False
    """Whether it is about the answer: then that is when a request counts."""
    rule: Rule

    def no_place(self, meeting: Interception) -> list[str]:
        """Why it cannot be done to a request, in sentences; nothing if it can."""
        return []

    def has_effect(self, meeting: Interception, response: Response | None) -> bool:
        """Of a verb that is about the answer: whether there is one that it can do something to."""
        return response is not None

    def before(self, meeting: Interception) -> Onward:
        """A request is met. Returns as a step of the chain does."""
        return None

    def after(self, meeting: Interception, response: Response | None) -> Outcome:
        """It is answered. Returns as a step of the chain does."""
        return None

    def release(self) -> None:
        """Let go on what is held."""


class Calls(Verb):
    """Calls a function, and holds the request, or its answer, until that has returned. What it
    raises is raised at the end of the test."""

    def __init__(
        self,
        function: Callable[[], object],
        in_its_thread: Callable[[Callable[[], None]], None],
        *,
        is_after: bool,
    ) -> None:
        """`in_its_thread` carries something out in the broker's thread, unless it has ended."""
        self._function = function
        self._in_its_thread = in_its_thread
        self._is_after = self.is_late = is_after
        self._held: set[Interception] = set()

    def has_effect(self, meeting: Interception, response: Response | None) -> bool:
        return True

    def before(self, meeting: Interception) -> Outcome:
        return None if self._is_after else self._call(meeting)

    def after(self, meeting: Interception, response: Response | None) -> Outcome:
        return self._call(meeting) if self._is_after else None

    def _call(self, meeting: Interception) -> Outcome:
        self._held.add(meeting)
        meeting.ends = lambda: self._held.discard(meeting)
        run = partial(self._run, meeting)
        threading.Thread(target=run, name="odradek rule", daemon=True).start()
        return meeting.hold(is_answered=self._is_after)

    def _run(self, meeting: Interception) -> None:
        try:
            self._function()
        except Exception as error:
            self.rule.failed(error)
        self._in_its_thread(lambda: self._over(meeting))

    def _over(self, meeting: Interception) -> None:
        if meeting in self._held:
            self._held.discard(meeting)
            meeting.resume()

    def release(self) -> None:
        """Let go on what is held; the functions go on, too."""
        for meeting in list(self._held):
            self._over(meeting)


class DropRequest(Verb):
    """It is never carried out, and never answered."""

    def before(self, meeting: Interception) -> Outcome:
        return PARKED


class DropReply(Verb):
    """It is carried out, and never answered."""

    is_late = True

    def after(self, meeting: Interception, response: Response | None) -> Outcome:
        return PARKED


class DisconnectBefore(Verb):
    """The connection is closed, and the request not carried out."""

    def before(self, meeting: Interception) -> Outcome:
        meeting.call.close()
        return NO_REPLY


class DisconnectAfter(Verb):
    """The connection is closed when the request was carried out, and not answered."""

    is_late = True

    def has_effect(self, meeting: Interception, response: Response | None) -> bool:
        return True

    def after(self, meeting: Interception, response: Response | None) -> Outcome:
        meeting.call.close()
        return NO_REPLY


class Notice(Verb):
    """Counts the requests whose answer has what is looked for, and calls a function with each of
    them, in the broker's thread and before it is answered."""

    is_late = True

    def __init__(
        self,
        looks: Callable[[Call, Response], object],
        then: Callable[[Call], object] | None = None,
    ) -> None:
        self._looks = looks
        self._then = then

    def has_effect(self, meeting: Interception, response: Response | None) -> bool:
        return response is not None and bool(self._looks(meeting.call, response))

    def after(self, meeting: Interception, response: Response | None) -> Outcome:
        if self._then is not None:
            self._then(meeting.call)
        return None


class Waits(Verb):
    """Holds requests, or their answers: each for so many milliseconds of real time, or all of them
    at a gate. After `release` nothing waits at a gate any more."""

    def __init__(self, milliseconds: int | None, *, is_after: bool) -> None:
        self._ms = milliseconds
        self._is_after = self.is_late = is_after
        self._is_open = False
        self.held: dict[Interception, Timer | None] = {}
        """What waits, and when it goes on."""

    def before(self, meeting: Interception) -> Outcome:
        return None if self._is_after else self._hold(meeting)

    def after(self, meeting: Interception, response: Response | None) -> Outcome:
        return self._hold(meeting) if self._is_after else None

    def _hold(self, meeting: Interception) -> Outcome:
        if self._is_open:
            return None
        self.held[meeting] = None
        if self._ms is not None:
            self.held[meeting] = meeting.rules.later(self._ms, lambda: self._over(meeting))
        meeting.ends = lambda: self._ended(meeting)
        return meeting.hold(is_answered=self._is_after)

    def _ended(self, meeting: Interception) -> None:
        timer = self.held.pop(meeting, None)
        if timer is not None:
            timer.cancel()

    def _over(self, meeting: Interception) -> None:
        if meeting in self.held:
            self._ended(meeting)
            meeting.resume()

    def release(self) -> None:
        """Let go on what is held, in the order in which it came."""
        self._is_open = self._ms is None
        for meeting in list(self.held):
            self._over(meeting)
