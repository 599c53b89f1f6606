"""Requests and answers that wait: for a time, or until the test lets them go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .....wire import Response
from ....base.chain import Outcome
from ....base.timers import Timer
from .verb import Verb

if TYPE_CHECKING:
    from ..interception import Interception


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
