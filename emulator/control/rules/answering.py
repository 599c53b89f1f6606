"""Answers of the test's own, and answers that it changes.

What a function of the test raises closes the connection, as a broker that fails does, and is raised
at the end of the test.

Clients that are throttled, and held to it, as Kafka's quotas do since 2.0 (KIP-219): the answer
comes at once and says how long the client is to wait, and for so long the broker reads nothing from
that connection.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ....wire import Response
from ....wire.api import response_class
from ...base.call import NO_REPLY, Sender
from ...base.chain import Outcome
from ...base.real_time import real_ms
from ...base.timers import Timer
from ...division.division import own_copy
from .verb import Verb

if TYPE_CHECKING:
    from .interception import Interception
    from .rule import Rule


THROTTLE = "throttle_time_ms"


class Answer(Verb):
    """A function of the request makes the response, and the request is not carried out; None of it
    has the broker answer as ever."""

    def __init__(self, function: Callable[[Any], Response | None]) -> None:
        self._function = function

    def before(self, meeting: Interception) -> Outcome:
        try:
            return _checked(self._function(meeting.request), meeting)
        except Exception as error:
            return _failed(self.rule, meeting, error)


class Edit(Verb):
    """A function changes the real response, or returns another one."""

    is_late = True

    def __init__(self, function: Callable[[Any], Response | None]) -> None:
        self._function = function

    def after(self, meeting: Interception, response: Response | None) -> Outcome:
        assert response is not None
        try:
            own = own_copy(response, meeting.version)
            return _checked(self._function(own), meeting) or own
        except Exception as error:
            return _failed(self.rule, meeting, error)


class Throttle(Verb):
    """The answer says that the client is to wait so many milliseconds; and the broker, if it mutes
    the connection, takes up nothing more on it for so long (semantics A11)."""

    is_late = True

    def __init__(self, milliseconds: int, *, mutes: bool) -> None:
        self._ms = milliseconds
        self._mutes = mutes

    def no_place(self, meeting: Interception) -> list[str]:
        response = response_class(meeting.call.api_key)
        if has_field(response, THROTTLE, meeting.version):
            return []
        return [f"v{meeting.version} has no {THROTTLE}"]

    def after(self, meeting: Interception, response: Response | None) -> Outcome:
        assert response is not None
        own: Response = own_copy(response, meeting.version)
        setattr(own, THROTTLE, self._ms)
        if self._mutes:
            meeting.call.mute(self._ms)
        return own


def has_field(response: type[Response], name: str, version: int) -> bool:
    return any(field.name == name and field.is_in(version) for field, _ in response.fields())


def _checked(found: Any, meeting: Interception) -> Response | None:
    expected = response_class(meeting.call.api_key)
    if found is not None and not isinstance(found, expected):
        raise TypeError(f"a {expected.__name__} or None is returned, not {found!r}")
    if found is not None:
        found.parts(meeting.version)  # raises what it cannot hold
    return found


def _failed(rule: Rule, meeting: Interception, error: Exception) -> Outcome:
    rule.failed(error)
    meeting.call.close()
    return NO_REPLY


class Muted:
    """Until when, in real milliseconds, nothing is read from connections."""

    def __init__(self) -> None:
        self._until: WeakKeyDictionary[Sender, int] = WeakKeyDictionary()

    def mute(self, connection: Sender, milliseconds: int) -> None:
        self._until[connection] = real_ms() + milliseconds

    def left_ms(self, connection: Sender) -> int:
        return max(0, self._until.get(connection, 0) - real_ms())

    def clear(self) -> None:
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
