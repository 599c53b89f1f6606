"""RequestMatcher: which requests a test means: their API, what they are about, who sends them.

Rules (`kafka.on("Produce", topic="orders")`) ask it of requests that come, and the journal
(`kafka.journal.of("Produce", topic="orders")`) of those that have come. `Narrowed` has its keywords
once for all of them; a wrong one is refused in the test's own line.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any, Protocol, TypedDict

from ...wire import Request
from ...wire.api import API_MODULES, api_name, request_class
from ..base.call import ClientSoftware
from ..base.fitting import described, fits, shown
from ..division.entries import ALL, Entry, said
from ..division.places import NARROWED_BY, narrowed_by
from ..handlers.registry import SERVED


class Narrowed(TypedDict, total=False):
    """What requests are narrowed by. Each may be a matcher, as for records: a regular expression, a
    function, a class."""

    topic: Any
    """Its name; an id that is sent is found by it."""
    partition: Any
    group: Any
    member: Any
    """Its id, or its static id."""
    transactional_id: Any
    client_id: Any
    """As the request says it."""
    client_software: Any
    """Its name, as "librdkafka", or name and version, "librdkafka 2.3.0"."""
    broker: Any
    """The id of the node that is asked."""
    version: Any
    """Of the request: a number or a range."""


class NarrowedCall(Narrowed, total=False):
    """The same of requests that come."""

    service: Any
    """The service whose process sends them."""
    where: Callable[[Any], object]
    """A function of the decoded request, called in the broker's thread."""


WHOLE = tuple(name for name in NarrowedCall.__annotations__ if name not in NARROWED_BY)
"""What every API has."""


class Asked(Protocol):
    """Who has sent a request, and how: a call, or what the journal has of one."""

    @property
    def client_id(self) -> str: ...

    @property
    def node_id(self) -> int: ...

    @property
    def version(self) -> int: ...

    @property
    def software(self) -> ClientSoftware: ...


def check_keywords(verb: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raises TypeError for a keyword that a verb does not have."""
    names = list(known)
    for name in given:
        if name not in names:
            near = get_close_matches(name, names, 1)
            meant = f"; did you mean {near[0]}=?" if near else f": it has {', '.join(names)}"
            raise TypeError(f"{verb} has no keyword {name!r}{meant}")


def name_of(request: type[Request]) -> str:
    return request.__name__.removesuffix("Request")


def api_of(given: type[Request] | str, *, served: bool = True) -> type[Request]:
    """The request of an API, given as its class or its name; one that this broker serves, or any
    that Kafka has. Raises TypeError, ValueError."""
    if isinstance(given, str):
        return _named(given, served)
    if not isinstance(given, type) or not issubclass(given, Request):
        raise TypeError(f'an API is the class of its request, or a name as "Produce": {given!r}')
    if served and given.api_key not in SERVED:
        raise ValueError(f"this broker does not serve {name_of(given)}")
    return given


def _named(given: str, served: bool) -> type[Request]:
    known = {_plain(module): key for key, module in API_MODULES.items()}
    key = known.get(_plain(given).removesuffix("request"))
    if key is not None:
        return api_of(request_class(key), served=served)
    names = [api_name(key) for key in (SERVED if served else API_MODULES)]
    lower = {_plain(name): name for name in names}
    near = [lower[each] for each in get_close_matches(_plain(given), lower, 3, 0.5)]
    likely = f"; do you mean {' or '.join(near)}?" if near else f". There are {', '.join(names)}"
    raise ValueError(f"there is no API {given!r}{likely}")


def _plain(name: str) -> str:
    return re.sub(r"[_\s]", "", name).lower()


class RequestMatcher:
    """What is expected of requests: of which API they are, `Request` for any, and by keyword what
    else."""

    def __init__(self, request: type[Request], given: Mapping[str, Any]) -> None:
        """Raises ValueError for a keyword that this API has no field for, TypeError."""
        self.request = request
        if request is not Request:
            self._check_fields(given)
        if "service" in given and not hasattr(given["service"], "owns"):
            raise TypeError(f"service is one that runs, not {shown(given['service'])}")
        if "where" in given and not callable(given["where"]):
            raise TypeError(f"where is a function of a request, not {shown(given['where'])}")
        self.given = dict(given)
        self.of_entry = {name: each for name, each in given.items() if name in NARROWED_BY}
        """What is expected of one entry."""

    def _check_fields(self, given: Mapping[str, Any]) -> None:
        known = narrowed_by(self.request)
        for name in given:
            if name in NARROWED_BY and name not in known:
                says = f"a request of {name_of(self.request)} has no {name}"
                raise ValueError(f"{says}: it can be narrowed by {', '.join([*known, *WHOLE])}")

    def __str__(self) -> str:
        return ", ".join(f"{name}={_said(each)}" for name, each in self.given.items())

    @property
    def versions(self) -> range:
        """Those that it leaves, as far as they can be said before a request comes."""
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

    def differences(self, asked: Asked, request: Any, found: Iterable[Entry]) -> list[str]:
        """Why a request with these entries is not meant, in sentences; nothing if it is. Raises
        what a function raises that was given."""
        return self._of_call(asked, request) + self._of_entries(found)

    def _of_call(self, asked: Asked, request: Any) -> list[str]:
        there = {"client_id": asked.client_id, "broker": asked.node_id, "version": asked.version}
        different = []
        for name, expected in self.given.items():
            if name in there and not _is_in(expected, there[name]):
                different.append(f"{name} is {there[name]!r}")
        software = asked.software
        names = (software.name, f"{software.name} {software.version}")
        if "client_software" in self.given and not _fits(self.given["client_software"], names):
            different.append(f"client_software is {names[1]!r}")
        if "service" in self.given and not self.given["service"].owns(asked):
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
    if inspect.isfunction(expected) or isinstance(expected, type):
        return expected.__name__
    return described(expected) if callable(expected) else repr(expected)
