"""Verb: what a rule does to the requests for which it takes effect, and to their answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .....wire import Response
from ....base.chain import Onward, Outcome

if TYPE_CHECKING:
    from ..interception import Interception
    from ..rule import Rule


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
