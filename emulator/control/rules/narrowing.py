"""Narrowing: which requests of an API a rule is about."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ....wire import Request
from ...base.fitting import fits, shown, told
from .apis import name_of
from .entries import ALL, Entry, said
from .places import NARROWED_BY, narrowed_by

if TYPE_CHECKING:
    from ...base.call import Call

WHOLE = ("client_id", "client_software", "broker", "version", "service", "where")
"""What every API has."""


class Narrowing:
    """What a rule was narrowed by: keywords, and what is expected of each."""

    def __init__(self, request: type[Request], given: Mapping[str, Any]) -> None:
        """Raises ValueError for a keyword that this API has no field for, TypeError."""
        self.request = request
        known = narrowed_by(request)
        for name in given:
            if name in NARROWED_BY and name not in known:
                has = ", ".join([*known, *WHOLE])
                text = f"a request of {name_of(request)} has no {name}: it can be narrowed by {has}"
                raise ValueError(text)
        if "service" in given and not hasattr(given["service"], "owns"):
            raise TypeError(f"service is one that runs, not {shown(given['service'])}")
        if "where" in given and not callable(given["where"]):
            raise TypeError(f"where is a function of a request, not {shown(given['where'])}")
        self.given = dict(given)
        self.of_entry = {name: each for name, each in given.items() if name in NARROWED_BY}
        """What is expected of one entry."""

    def __str__(self) -> str:
        return ", ".join(f"{name}={_said(each)}" for name, each in self.given.items())

    @property
    def versions(self) -> range:
        """Those that it leaves, as far as they can be told before a request comes."""
        first, last = self.request.first_version, self.request.last_version
        given = self.given.get("version")
        if isinstance(given, int):
            return range(given, given + 1)
        if isinstance(given, range) and given.step == 1:
            return range(max(first, given.start), min(last + 1, given.stop))
        return range(first, last + 1)

    def fits(self, entry: Entry) -> bool:
        """Whether it is about this entry."""
        return all(_fits(expected, said(entry, name)) for name, expected in self.of_entry.items())

    def differences(self, call: Call, request: Request, found: Iterable[Entry]) -> list[str]:
        """Why a request with these entries is not meant, in sentences; nothing if it is. Raises
        what a function raises that was given."""
        return self._of_call(call, request) + self._of_entries(found)

    def _of_call(self, call: Call, request: Request) -> list[str]:
        there = {"client_id": call.client_id, "broker": call.node_id, "version": call.version}
        different = []
        for name, expected in self.given.items():
            if name in there and not _is_in(expected, there[name]):
                different.append(f"{name} is {there[name]!r}")
        software = call.software
        names = (software.name, f"{software.name} {software.version}")
        if "client_software" in self.given and not _fits(self.given["client_software"], names):
            different.append(f"client_software is {names[1]!r}")
        if "service" in self.given and not self.given["service"].owns(call):
            different.append(f"it is not of {self.given['service'].name}")
        if not different and "where" in self.given and not self.given["where"](request):
            different.append("where says no")
        return different

    def _of_entries(self, found: Iterable[Entry]) -> list[str]:
        """Of the nearest entry."""
        if not self.of_entry:
            return []
        nearest: list[str] | None = None
        for entry in found:
            different = [
                f"{name} is {' or '.join(map(repr, there)) or 'not said'}"
                for name, expected in self.of_entry.items()
                if not _fits(expected, there := said(entry, name))
            ]
            if not different:
                return []
            if nearest is None or len(different) < len(nearest):
                nearest = different
        return nearest or ["it asks for nothing"]


def _fits(expected: Any, there: Iterable[Any]) -> bool:
    return any(each is ALL or _is_in(expected, each) for each in there)


def _is_in(expected: Any, there: Any) -> bool:
    return there in expected if isinstance(expected, range) else fits(expected, there)


def _said(expected: Any) -> str:
    """As it stands in the sentence that made the rule."""
    if inspect.isfunction(expected) or isinstance(expected, type):
        return expected.__name__
    return told(expected) if callable(expected) else repr(expected)
