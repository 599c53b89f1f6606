"""Answers of the test's own, and answers that it changes.

What a function of the test raises closes the connection, as a broker that fails does, and is told
at the end of the test.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .....wire import Response
from .....wire.api import response_class
from .....wire.frames import pieces
from ....base.call import NO_REPLY
from ....base.chain import Outcome
from .verb import Verb

if TYPE_CHECKING:
    from ..interception import Interception
    from ..rule import Rule

THROTTLE = "throttle_time_ms"
_PIECE = 1 << 20


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
    """Whether a response has this field in a version."""
    return any(field.name == name and field.is_in(version) for field, _ in response.fields())


def own_copy(response: Response, version: int) -> Any:
    """The response as the client would read it: parts of the one that is there may be in other
    answers too."""
    data = b"".join(pieces(response.parts(version), lambda: _PIECE))
    return type(response).decode(data, version)


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
