"""Clients that are throttled, and held to it, as Kafka's quotas do since 2.0 (KIP-219): the answer
comes at once and says how long the client is to wait, and for so long the broker reads nothing from
that connection."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from .....wire import Response
from .....wire.api import response_class
from ....base.call import Sender
from ....base.chain import Outcome
from ....base.real_time import real_ms
from ....base.timers import Timer
from .answering import THROTTLE, has_field, own_copy
from .verb import Verb

if TYPE_CHECKING:
    from ..interception import Interception


class Muted:
    """Until when, in real milliseconds, nothing is read from connections."""

    def __init__(self) -> None:
        self._until: WeakKeyDictionary[Sender, int] = WeakKeyDictionary()

    def mute(self, connection: Sender, milliseconds: int) -> None:
        """Read nothing for so long."""
        self._until[connection] = real_ms() + milliseconds

    def left_ms(self, connection: Sender) -> int:
        """For how long nothing is read from it."""
        return max(0, self._until.get(connection, 0) - real_ms())

    def clear(self) -> None:
        """Read from all of them again."""
        self._until.clear()


class ThrottleAndMute(Verb):
    """Throttles answers, and holds the next request of such a connection until its time is over.
    The rules of several APIs share who is muted."""

    is_late = True

    def __init__(self, muted: Muted, milliseconds: int) -> None:
        self._muted = muted
        self._ms = milliseconds
        self._held: dict[Interception, Timer] = {}

    def no_place(self, meeting: Interception) -> list[str]:
        if has_field(response_class(meeting.call.api_key), THROTTLE, meeting.version):
            return []
        return [f"v{meeting.version} has no {THROTTLE}"]

    def before(self, meeting: Interception) -> Outcome:
        left_ms = self._muted.left_ms(meeting.call.connection)
        if not left_ms:
            return None
        self._held[meeting] = meeting.rules.later(left_ms, lambda: self._over(meeting))
        meeting.ends = lambda: self._ended(meeting)
        return meeting.hold(is_answered=False)

    def after(self, meeting: Interception, response: Response | None) -> Outcome:
        assert response is not None
        own: Response = own_copy(response, meeting.version)
        setattr(own, THROTTLE, self._ms)
        self._muted.mute(meeting.call.connection, self._ms)
        return own

    def _ended(self, meeting: Interception) -> None:
        self._held.pop(meeting).cancel()

    def _over(self, meeting: Interception) -> None:
        self._ended(meeting)
        meeting.resume()

    def release(self) -> None:
        self._muted.clear()
        for meeting in list(self._held):
            self._over(meeting)
