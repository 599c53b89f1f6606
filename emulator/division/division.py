"""Division: a request in two parts, one refused and one that goes on, and the answer to both.

`divide` asks of each entry of a request whether it is refused, and with what. What is refused has
its answer, made as Kafka makes it (refusing.py); `rest` goes on to the handler; `join` puts the
refused part into the handler's answer, in the order in which Kafka's answer has both (`ORDERS`).

- An answer with an error of its own (of a session, of a group) stands alone: nothing is joined,
  unless a test has it refused, which is to see that.
- What asks for everything (null, or an empty list that means so) is not divided.
- A request, or a group in it, of which nothing is left goes on all the same where Kafka asks about
  more than its entries (`ASKED_ANYWAY`); else there is no rest.
- A topic of which no partition is named is refused where Kafka answers by topics, and goes on where
  it answers by partitions.

Not divided here: Fetch, partition by partition where it reads (a session has partitions that no
request names); DescribeTopicPartitions under authorization, whose topics are sorted by name and cut
at a cursor before anything is refused; what an answer leaves out without saying so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from typing import Any, NamedTuple, TypeAlias

from ...wire import Error, Request, Response
from ...wire.api import response_class
from ...wire.frames import pieces
from .entries import Entry, TopicNames, empty_is_all, resolved, with_own
from .places import PASSED_OVER, Part, answered, asked, entry_depth
from .refusing import levels, without_error

_PIECE = 1 << 20
ITEM = "item"
"""In an entry that is asked about: the part of the request itself."""


class Refusal(NamedTuple):
    """What an entry is answered with."""

    error: Error
    message: str | None = None
    also: Mapping[str, Any] = {}
    """Fields of the answer that are not what the request says."""


Refuse: TypeAlias = Callable[[Entry], Refusal | None]
"""Whether an entry is refused, and with what."""


class _Divided(NamedTuple):
    """A part of a request."""

    about: Mapping[str, Any]
    """What it says of itself, by role."""
    refused: Any
    """The answer to what is refused of it, None if nothing is."""
    rest: Any
    """What goes on of it, None if nothing does."""
    parts: list[_Divided]


_Order: TypeAlias = "Callable[[_Joining, list[Any], list[_Divided], Part], list[Any]]"


class Division:
    """A request in two parts."""

    def __init__(self, request: Request, version: int, divided: _Divided) -> None:
        self.request = request
        """As it came."""
        self.rest: Request | None = divided.rest
        """What goes on to the handler."""
        self._divided = divided
        self._version = version

    def answer(self) -> Any:
        """The answer where nothing goes on."""
        own = copy(self._divided.refused)
        name, _ = self._place.lists[0]
        setattr(own, name, [])
        self.join(own)
        return own

    def join(self, own: Any, *, beside_errors: bool = False) -> None:
        """Put what is refused into the answer for the rest, whose parts are in no other answer.
        `beside_errors`: also where that has an error of its own around it."""
        if self.rest is not None and empty_is_all(self.rest, self._version):
            name, _ = asked(type(self.rest), self._version).lists[0]
            if not getattr(self.rest, name):  # it was asked for everything, for the rest of it
                setattr(own, self._place.lists[0][0], [])
        _Joining(beside_errors).join(own, self._divided, self._place)

    @property
    def _place(self) -> Part:
        return answered(response_class(self.request.api_key), self._version)


def divide(
    request: Request, version: int, names: TopicNames, refuse: Refuse | Mapping[int, Refuse]
) -> Division | None:
    """Divide a request; None if nothing of it is refused.

    `refuse`: asked of each entry, with the error in the smallest part of the answer; or what is
    asked at some levels of the answer (1: each thing asked for, 2: each in those, ...).
    """
    if callable(refuse):
        refuse = {smallest(request, version): refuse}
    part, place = asked(type(request), version), answered(response_of(request), version)
    divided = _Walk(version, names, refuse).divided(request, part, place, {}, 0)
    return None if divided.refused is None else Division(request, version, divided)


def response_of(request: Request) -> type[Response]:
    """The class of its answer."""
    return response_class(request.api_key)


def smallest(request: Request, version: int) -> int:
    """The level of the smallest part of an answer that tells the entries of a request apart."""
    deepest = entry_depth(asked(type(request), version))
    return max(level for level in levels(type(request), version) if level <= deepest)


def own_copy(response: Response, version: int) -> Any:
    """The response as the client would read it: parts of the one that is there may be in other
    answers too."""
    data = b"".join(pieces(response.parts(version), lambda: _PIECE))
    return type(response).decode(data, version)


class _Walk:
    """Goes through a request and where its answer has errors, side by side."""

    def __init__(self, version: int, names: TopicNames, refuses: Mapping[int, Refuse]) -> None:
        self._version = version
        self._names = names
        self._refuses = refuses
        self._deepest = max(refuses)

    def divided(
        self, item: Any, part: Part, place: Part, above: Mapping[str, Any], depth: int
    ) -> _Divided:
        """A part of the request, divided."""
        about = with_own(item, part, {})
        here = {**above, **about}
        if depth in self._refuses:
            found = self._refuses[depth](resolved({**here, ITEM: item}, self._names))
            if found is not None:
                return _Divided(about, self._refused(item, part, place, depth, found), None, [])
        lists = [getattr(item, name) for name, _ in part.lists] if depth < self._deepest else []
        if any(lists):
            return self._below(item, part, place, here, depth)
        is_refused = lists and depth and None not in lists and self._is_refused_empty(place, here)
        if is_refused:
            made = without_error(item, part, place, self._version, depth)
            return _Divided(about, made, None, [])
        return _Divided(about, None, item, [])

    def _refused(self, item: Any, part: Part, place: Part, depth: int, found: Refusal) -> Any:
        made = without_error(item, part, place, self._version, depth)
        setattr(made, place.code, found.error)
        if found.message is not None and hasattr(made, "error_message"):
            made.error_message = found.message
        for name, each in found.also.items():
            setattr(made, name, each)
        return made

    def _is_refused_empty(self, place: Part, here: Mapping[str, Any]) -> bool:
        """Whether something is refused in which nothing is named."""
        if _order_of(place) in (_Joining.together, _once):
            return False
        entry = resolved(here, self._names)
        return any(refuse(entry) is not None for refuse in self._refuses.values())

    def _below(
        self, item: Any, part: Part, place: Part, here: Mapping[str, Any], depth: int
    ) -> _Divided:
        parts: list[_Divided] = []
        rest = copy(item)
        is_left = False
        list_name, answer = place.lists[0]
        for name, below in part.lists:
            is_over = name == PASSED_OVER
            found = [
                self.divided(each, below, place, here, depth)
                if is_over
                else self.divided(each, below, answer, here, depth + 1)
                for each in getattr(item, name) or ()
            ]
            parts += [inner for each in found for inner in each.parts] if is_over else found
            kept = [each.rest for each in found if each.rest is not None]
            is_left |= bool(kept) or f"{_name(part)}.{name}" in ASKED_ANYWAY
            setattr(rest, name, kept)
        about = with_own(item, part, {})
        refused = [each.refused for each in parts if each.refused is not None]
        if not refused:
            return _Divided(about, None, item, parts)
        made = without_error(item, part, place, self._version, depth)
        setattr(made, list_name, refused)
        return _Divided(about, made, rest if is_left else None, parts)


def _name(part: Part) -> str:
    return "" if part.struct is None else part.struct.__qualname__


ASKED_ANYWAY = frozenset(
    {
        "DeleteShareGroupOffsetsRequest.topics",
        "DescribeShareGroupOffsetsRequest.Group.topics",
        "MetadataRequest.topics",
        "OffsetDeleteRequest.topics",
        "OffsetFetchRequest.Group.topics",
        "OffsetFetchRequest.topics",
        "ShareAcknowledgeRequest.topics",
        "ShareFetchRequest.topics",
    }
)
"""Lists of entries without which there is still something to ask: the group, the session, which
brokers there are."""

# How an answer has what is refused of a request beside the rest: functions from what is answered,
# the parts of the request, and where such a part has its error.


class _Joining(NamedTuple):
    """Puts two answers together."""

    beside_errors: bool

    def join(self, own: Any, divided: _Divided, place: Part) -> None:
        """What is refused of a part of the request into its answer."""
        if place.code and getattr(own, place.code) and not self.beside_errors:
            return
        name, below = place.lists[0]
        found = getattr(own, name) or []
        setattr(own, name, _order_of(below)(self, found, divided.parts, below))

    def together(self, own: list[Any], parts: list[_Divided], place: Part) -> list[Any]:
        """Under the same topic, group, ... as what is there; else last."""
        for part in parts:
            if part.refused is None:
                continue
            same = next((each for each in own if _is_same(each, part.refused, place)), None)
            if same is None or not place.lists:
                own.append(part.refused)
            else:
                self.join(same, part, place)
        return own

    def partly(self, own: list[Any], parts: list[_Divided], place: Part) -> list[Any]:
        """The same of parts of which something is left."""
        left = [each for each in parts if each.rest is not None]
        return self.together(own, left, place)


def _order_of(place: Part) -> _Order:
    return ORDERS.get(_name(place), _Joining.together)


def _is_same(one: Any, other: Any, place: Part) -> bool:
    return all(getattr(one, name) == getattr(other, name) for name, _ in place.fields)


def _once(joining: _Joining, own: list[Any], parts: list[_Divided], place: Part) -> list[Any]:
    """The same, with each partition of a topic once."""
    own = joining.together(own, parts, place)
    for each in own:
        once(each, place)
    return own


def once(item: Any, place: Part) -> None:
    """Each thing once in a part of an answer; the last of them."""
    name, below = place.lists[0]
    setattr(item, name, list({_key(each, below): each for each in getattr(item, name)}.values()))


def _key(item: Any, place: Part) -> tuple[Any, ...]:
    return tuple(getattr(item, name) for name, _ in place.fields)


def _wholly(parts: list[_Divided]) -> list[Any]:
    """The answers for what is refused and of which nothing is left."""
    return [each.refused for each in parts if each.rest is None]


def _last(joining: _Joining, own: list[Any], parts: list[_Divided], place: Part) -> list[Any]:
    return [*joining.partly(own, parts, place), *_wholly(parts)]


def _last_once(joining: _Joining, own: list[Any], parts: list[_Divided], place: Part) -> list[Any]:
    refused: dict[tuple[Any, ...], Any] = {}
    for each in _wholly(parts):
        refused.setdefault(_key(each, place), each)
    return [*joining.partly(own, parts, place), *refused.values()]


def _first(joining: _Joining, own: list[Any], parts: list[_Divided], place: Part) -> list[Any]:
    return [*_wholly(parts), *joining.partly(own, parts, place)]


def _in_place(joining: _Joining, own: list[Any], parts: list[_Divided], place: Part) -> list[Any]:
    """In the order of the request, of which each part has its own answer."""
    rest, found = iter(own), []
    for part in parts:
        each = part.refused if part.rest is None else next(rest, part.refused)
        if part.refused is not None and each is not part.refused:
            joining.join(each, part, place)
        if each is not None:
            found.append(each)
    return [*found, *rest]


def _first_with_missing(
    joining: _Joining, own: list[Any], parts: list[_Divided], place: Part
) -> list[Any]:
    """First what is refused and what is not there, in the order of the request; each topic once."""
    order = {_asked_key(part, place): n for n, part in reversed([*enumerate(parts)])}
    missing = (Error.UNKNOWN_TOPIC_OR_PARTITION, Error.UNKNOWN_TOPIC_ID)
    own = joining.partly(own, parts, place)
    odd = [each for each in own if _has(each, place, missing)] + _wholly(parts)
    others = [each for each in own if not _has(each, place, missing)]
    odd.sort(key=lambda each: order[_key(each, place)])
    return [*_merged(odd, place), *_merged(others, place)]


def _last_with_missing(
    joining: _Joining, own: list[Any], parts: list[_Divided], place: Part
) -> list[Any]:
    """Last what is refused and ids that nothing has, in the order of the request."""
    own = joining.partly(own, parts, place)
    missing = [each for each in own if _has(each, place, (Error.UNKNOWN_TOPIC_ID,))]
    odd = []
    for part in parts:
        if part.rest is None:
            odd.append(part.refused)
        elif missing and _key(missing[0], place) == _asked_key(part, place):
            odd.append(missing.pop(0))
    return [*(each for each in own if not any(each is other for other in odd)), *odd]


def _asked_key(part: _Divided, place: Part) -> tuple[Any, ...]:
    return tuple(part.about.get(role) for _, role in place.fields)


def _has(item: Any, place: Part, errors: tuple[Error, ...]) -> bool:
    name, below = place.lists[0]
    return any(getattr(each, below.code) in errors for each in getattr(item, name))


def _merged(items: list[Any], place: Part) -> list[Any]:
    name, _ = place.lists[0]
    found: dict[tuple[Any, ...], Any] = {}
    for each in items:
        same = found.setdefault(_key(each, place), each)
        if same is not each:
            setattr(same, name, [*getattr(same, name), *getattr(each, name)])
    return [*found.values()]


ORDERS: dict[str, _Order] = {
    "AlterConfigsResponse.Resource": _in_place,
    "ConsumerGroupDescribeResponse.Group": _first,
    "CreateAclsResponse.Result": _in_place,
    "DeleteAclsResponse.FilterResult": _in_place,
    "DeleteRecordsResponse.Topic": _once,
    "DeleteShareGroupOffsetsResponse.Topic": _last,
    "DeleteTopicsResponse.Topic": _last,
    "DescribeConfigsResponse.Result": _last,
    "DescribeGroupsResponse.Group": _first,
    "DescribeProducersResponse.Topic": _in_place,
    "DescribeShareGroupOffsetsResponse.Group": _in_place,
    "DescribeShareGroupOffsetsResponse.Group.Topic": _last,
    "DescribeTransactionsResponse.TransactionState": _in_place,
    "FindCoordinatorResponse.Coordinator": _in_place,
    "IncrementalAlterConfigsResponse.Resource": _in_place,
    "ListOffsetsResponse.Topic": _last,
    "MetadataResponse.Topic": _last_once,
    "OffsetCommitResponse.Topic": _first_with_missing,
    "OffsetDeleteResponse.Topic": _first_with_missing,
    "OffsetFetchResponse.Group": _in_place,
    "OffsetFetchResponse.Group.Topic": _last_with_missing,
    "OffsetFetchResponse.Topic": _last,
    "OffsetForLeaderEpochResponse.Topic": _last,
    "ProduceResponse.Topic": _once,
    "ShareGroupDescribeResponse.Group": _first,
    "StreamsGroupDescribeResponse.Group": _first,
    "TxnOffsetCommitResponse.Topic": _first_with_missing,
}
"""By the struct of an answer; the others are `together`. Source: the handlers of Kafka 4.3.1
(semantics M13)."""
