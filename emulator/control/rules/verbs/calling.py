"""A function of the test that is called when a request comes, while that waits: in a thread of its
own, so that every verb of the broker may be used in it, one that ends the broker too."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from .....wire import Response
from ....base.chain import Outcome
from .verb import Verb

if TYPE_CHECKING:
    from ..interception import Interception


class Calls(Verb):
    """Calls a function, and holds the request, or its answer, until that has returned. What it
    raises is told at the end of the test."""

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
