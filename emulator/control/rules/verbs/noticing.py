"""Requests that are noticed, and changed in nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .....wire import Response
from ....base.call import Call
from ....base.chain import Outcome
from .verb import Verb

if TYPE_CHECKING:
    from ..interception import Interception


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
