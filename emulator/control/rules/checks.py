"""The arguments of rules: each is checked where the sentence is made, so that a mistake is raised
in the test's own line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeVar

from ....wire import Error
from ...base.fitting import shown

if TYPE_CHECKING:
    from ..request_matcher import RequestMatcher

_LONGEST_S = 1_000_000
F = TypeVar("F", bound=Callable[..., object])


def an_int(name: str, given: Any) -> int:
    """A whole number. Raises TypeError."""
    if not isinstance(given, int) or isinstance(given, bool):
        raise TypeError(f"{name} is a whole number, not {shown(given)}")
    return given


def a_whole_number(name: str, given: Any, *, least: int = 1, of: str = "") -> int:
    """A number of things, as `of=" of bytes"`. Raises TypeError, ValueError."""
    what = f"a number{of}" if of else "a whole number"
    if not isinstance(given, int) or isinstance(given, bool):
        raise TypeError(f"{name} is {what}, not {shown(given)}")
    if given < least:
        raise ValueError(f"{name} is {what} from {least} on, not {given}")
    return given


def a_number(name: str, given: Any, *, most: float, of: str = "") -> float:
    """A number from 0 on. Raises TypeError, ValueError."""
    what = f"a number{of} from 0 to {most}"
    if not isinstance(given, int | float) or isinstance(given, bool):
        raise TypeError(f"{name} is {what}, not {shown(given)}")
    if not isfinite(given) or not 0 <= given <= most:
        raise ValueError(f"{name} is {what}, not {given}")
    return float(given)


def a_time(name: str, given: Any) -> float:
    """A time in seconds. Raises TypeError, ValueError."""
    return a_number(name, given, most=_LONGEST_S, of=" of seconds")


def a_function(name: str, given: F, of: str) -> F:
    """A function. Raises TypeError."""
    if not callable(given):
        raise TypeError(f"{name} takes a function {of}, not {shown(given)}")
    return given


def one_of(name: str, given: Any, choices: Sequence[str]) -> str:
    """One of some words. Raises ValueError."""
    if given not in choices:
        raise ValueError(f"{name} is {' or '.join(map(repr, choices))}, not {shown(given)}")
    return str(given)


def before_or_after(when: str) -> bool:
    """Whether it is "after" the request was carried out. Raises ValueError."""
    return one_of("when", when, ("before", "after")) == "after"


def an_error(given: Any) -> Error:
    """An error, or its name. Raises TypeError, ValueError."""
    if isinstance(given, str):
        if given.upper() not in Error.__members__:
            near = " or ".join(get_close_matches(given.upper(), Error.__members__, 3))
            raise ValueError(f"there is no error {given!r}{f'; do you mean {near}?' * bool(near)}")
        given = Error[given.upper()]
    if not isinstance(given, Error):
        raise TypeError(f"an error is one of Error, or its name, not {shown(given)}")
    if given is Error.NONE:
        raise ValueError("Error.NONE is no error: nothing fails with it")
    return given


def check_throttle(matcher: RequestMatcher) -> None:
    """Raises ValueError if no version that is meant can tell a client to wait."""
    from ....wire.api import response_class
    from ..request_matcher import name_of as api_name
    from .answering import THROTTLE, has_field

    response = response_class(matcher.request.api_key)
    if not any(has_field(response, THROTTLE, version) for version in matcher.versions):
        name = api_name(matcher.request)
        raise ValueError(f"the answer to {name} has no {THROTTLE} in these versions")


def name_of(function: object) -> str:
    """What a function is called in a rule's sentence."""
    return str(getattr(function, "__name__", type(function).__name__))
