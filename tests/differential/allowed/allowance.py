"""What an allowance is, and the count of how often each has applied.

A difference is judged by an `Allowed`: the request it is about, the place of the field (its path
without indices), and, where that says too much, a test of the request and of the two values. What
never applied in a run is reported, so that no allowance outlives its reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from odradek.wire import Request

from ..engine.compare import NOTHING, Difference

Test: TypeAlias = Callable[[Any, Difference], bool]
"""Of the request and the difference; only requests of the allowance's class are given."""


def _always(request: Request, difference: Difference) -> bool:
    return True


@dataclass(frozen=True)
class Allowed:
    """One allowed difference in the answers to `request`; `place` "*" is any field. With `ends`
    the two brokers are in different states after it, and the sequence ends."""

    name: str
    request: type[Request]
    place: str
    reason: str
    applies: Test = _always
    ends: bool = False

    def covers(self, request: Request, difference: Difference) -> bool:
        """Whether it is this difference."""
        return (
            type(request) is self.request
            and self.place in ("*", difference.place)
            and self.applies(request, difference)
        )


class Allowances:
    """The allowed differences, and how often each has applied."""

    def __init__(self, allowed: Sequence[Allowed]) -> None:
        self._allowed = tuple(allowed)
        self.used: Counter[str] = Counter()

    def find(self, request: Request | None, difference: Difference) -> Allowed | None:
        if request is None:
            return None
        for allowed in self._allowed:
            if allowed.covers(request, difference):
                self.used[allowed.name] += 1
                return allowed
        return None

    def unused(self) -> list[Allowed]:
        """Those that have not applied."""
        return [each for each in self._allowed if not self.used[each.name]]


def at(*places: str) -> Test:
    """The test whether a difference is at one of these places."""
    return lambda request, difference: difference.place in places


def is_missing(value: Any) -> bool:
    """Whether a side had nothing there."""
    return isinstance(value, str) and value == NOTHING


def are_lists(request: Request, difference: Difference) -> bool:
    """Whether there is a list on both sides, of different lengths."""
    return isinstance(difference.real, list) and isinstance(difference.ours, list)
