"""Requests and answers that are lost.

A connection answers in order, so nothing that comes after what was lost is answered either: clients
see a broker that is silent, until their own time for a request is over and they connect again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .....wire import Response
from ....base.call import NO_REPLY, PARKED
from ....base.chain import Outcome
from .verb import Verb

if TYPE_CHECKING:
    from ..interception import Interception


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
