"""Answers in which some entries are refused: put together, or found in an answer that is there.

Requests that are refused: all of them, or the entries that a rule is about.

- What is refused is not carried out: the request goes on with the rest, and its answer has both.
- A request for everything (all topics, all offsets of a group) is carried out, and answered with
  the error for what is meant.
- Fetch is refused partition by partition, in its session too; errors of the session itself refuse
  all of it. So is ShareFetch where a rule names topics or partitions; its acknowledgements are
  carried out.
- AddPartitionsToTxn adds all partitions of a transaction or none: where one fails, the others are
  OPERATION_NOT_ATTEMPTED.
- A Produce with acks=0 has no answer: its connection is closed, as Kafka does.
- With `is_after` nothing is refused: all of it is carried out, and then answered with the error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from ....wire import Error, Refused, Request, Response
from ....wire.api.add_partitions_to_txn import AddPartitionsToTxnRequest
from ....wire.api.api_versions import ApiVersionsResponse
from ....wire.api.fetch import FetchRequest
from ....wire.api.produce import ProduceRequest
from ....wire.api.share_fetch import ShareFetchRequest
from ...base.call import NO_REPLY
from ...base.chain import Onward, Outcome
from .answering import own_copy
from .entries import entries, own_values, resolved, sifted
from .narrowing import Narrowing, name_of
from .places import PARTITION, TOPIC, TRANSACTIONAL_ID, answered, asked, depth_of
from .places import Part as Place
from .refusing import given_in_error, levels, refused, whole
from .verb import Verb

if TYPE_CHECKING:
    from .interception import Interception


class Part(NamedTuple):
    """What was taken out of a request."""

    request: Request
    """As it came."""
    taken: Any
    """The request with what is refused alone; None if nothing was taken out."""
    answer: Any
    """The response to that."""


def place_of(answer: Response, version: int) -> Place:
    """Where an answer has its entries, and their errors."""
    return answered(type(answer), version)


def has_error(answer: Any, version: int) -> bool:
    """Whether any part of an answer has an error."""
    return _has_error(answer, place_of(answer, version))


def _has_error(item: Any, place: Place) -> bool:
    if place.code and getattr(item, place.code):
        return True
    return any(
        _has_error(each, below) for name, below in place.lists for each in getattr(item, name) or ()
    )


def merge(own: Any, part: Part, version: int) -> None:
    """Add the refusals to the answer for the rest: under the same topic, group, ... as what is
    there. Answers that say nothing of what they are about stand in the order of the request."""
    place = place_of(own, version)
    (name, below), *_ = place.lists
    if below.fields or below.lists:
        _merge(own, part.answer, place)
        return
    (asked_as, _), *_ = asked(type(part.request), version).lists
    taken = {id(each) for each in getattr(part.taken, asked_as)}
    refused, rest = iter(getattr(part.answer, name)), iter(getattr(own, name))
    each_asked = getattr(part.request, asked_as)
    setattr(own, name, [next(refused if id(each) in taken else rest) for each in each_asked])


def _merge(own: Any, other: Any, place: Place) -> None:
    for name, below in place.lists:
        there = getattr(own, name)
        for item in getattr(other, name):
            same = next((each for each in there if _is_same(each, item, below)), None)
            if same is None or not below.lists:
                there.append(item)
            else:
                _merge(same, item, below)


def _is_same(one: Any, other: Any, place: Place) -> bool:
    """Whether both are about the same."""
    return all(getattr(one, name) == getattr(other, name) for name, _ in place.fields)


def refuse_entries(
    own: Any, version: int, where: int, error: Error, is_meant: Callable[[dict[str, Any]], bool]
) -> None:
    """Put an error, and nothing else, in the place of answers at a level."""

    def walk(item: Any, place: Place, above: dict[str, Any], depth: int) -> None:
        for name, below in place.lists[:1]:
            items = getattr(item, name) or []
            for number, each in enumerate(items):
                values = {**above, **{role: getattr(each, field) for field, role in below.fields}}
                if depth + 1 < where:
                    walk(each, below, values, depth + 1)
                elif is_meant(values):
                    items[number] = _refused(each, below, version, error)

    walk(own, place_of(own, version), {}, 0)


def _refused(item: Any, place: Place, version: int, error: Error) -> Any:
    assert place.struct is not None
    made = place.struct(**given_in_error(item, place, version))
    for name, _ in place.fields:
        setattr(made, name, getattr(item, name))
    setattr(made, place.code, error)
    return made


OF_SESSIONS = frozenset(
    {
        Error.FETCH_SESSION_ID_NOT_FOUND,
        Error.INVALID_FETCH_SESSION_EPOCH,
        Error.FETCH_SESSION_TOPIC_ID_ERROR,
        Error.UNSUPPORTED_VERSION,
        Error.INVALID_REQUEST,
    }
)


class Fail(Verb):
    """Refuses what a rule is about."""

    def __init__(
        self, narrowing: Narrowing, error: Error, message: str | None, *, is_after: bool = False
    ) -> None:
        """Raises ValueError if no version that is meant has a place for the error."""
        self._is_after = self.is_late = is_after
        self._narrowing = narrowing
        self._error = error
        self._message = message
        if not any(self._where(version) for version in narrowing.versions):
            name = name_of(narrowing.request)
            raise ValueError(f"the answer to {name} has no place for an error in these versions")

    def _where(self, version: int) -> frozenset[int]:
        """The levels of a response that have the error in a version."""
        request = self._narrowing.request
        if request is FetchRequest and self._error not in OF_SESSIONS:
            return frozenset({2})
        depth = depth_of(asked(request, version), set(self._narrowing.of_entry))
        if not depth:
            return whole(request, version)
        found = levels(request, version)
        below = [level for level in found if level >= depth]
        return frozenset(below[:1] or [level for level in found if not level])

    def no_place(self, meeting: Interception) -> list[str]:
        where = self._where(meeting.version)
        if not where:
            return [f"v{meeting.version} has no place for an error"]
        is_fetch = self._narrowing.request is FetchRequest
        if min(where) and not self._narrowing.of_entry and not is_fetch:
            answer = refused(meeting.request, meeting.version, where, self._error)
            if not has_error(answer, meeting.version):
                has = f"v{meeting.version} has no other place for an error"
                return [f"it asks for nothing by name, and {has}"]
        return []

    def before(self, meeting: Interception) -> Onward:
        if self._is_after:
            return None
        request, version = meeting.request, meeting.version
        where = self._where(version)
        is_fetch = isinstance(request, FetchRequest) and where == {2}
        if is_fetch or (isinstance(request, ShareFetchRequest) and min(where)):
            self._fail_partitions(meeting)
            return None
        if not self._narrowing.of_entry or not min(where):
            return self._answered(meeting, self._refused(request, version, where))
        names = meeting.rules.topic_name
        taken, rest = sifted(request, version, names, self._narrowing.fits)
        answer = None if taken is None else self._refused(taken, version, where)
        if isinstance(taken, AddPartitionsToTxnRequest) and rest is not None:
            rest = _of_other_transactions(taken, rest, version, where, answer)
        if rest is None:
            return self._answered(meeting, answer)
        meeting.kept[self] = Part(request, taken, answer)
        return None if rest is request else rest

    def _refused(self, request: Request, version: int, where: frozenset[int]) -> Any:
        return refused(request, version, where, self._error, self._message)

    def _answered(self, meeting: Interception, answer: Any) -> Outcome:
        if _is_silent(meeting.request):
            meeting.call.close()
            return NO_REPLY
        is_introduction = isinstance(answer, ApiVersionsResponse)
        if is_introduction and self._error is Error.UNSUPPORTED_VERSION:
            meeting.call.version = meeting.version = 0  # which every client can read
        return answer  # type: ignore[no-any-return]

    def _fail_partitions(self, meeting: Interception) -> None:
        passage = meeting.call.passage
        assert passage is not None, "a call that meets rules passes the chain"
        before, own = passage.refuses, own_values(meeting.request, meeting.version)

        def refuse(topic: str, partition: int) -> None:
            if before is not None:
                before(topic, partition)
            if self._narrowing.fits({**own, TOPIC: topic, PARTITION: partition}):
                raise Refused(self._error)

        passage.refuses = refuse

    def after(self, meeting: Interception, response: Response | None) -> Outcome:
        if self._is_after:
            return self._answered_all_the_same(meeting, response)
        part = meeting.kept.pop(self, None)
        if part is None:
            return None
        if response is None:
            meeting.call.close()
            return NO_REPLY
        own = own_copy(response, meeting.version)
        self._refuse_what_is_answered(meeting, part.request, own)
        if part.answer is not None:
            merge(own, part, meeting.version)
        return own  # type: ignore[no-any-return]

    def _answered_all_the_same(self, meeting: Interception, response: Response | None) -> Outcome:
        """It was carried out: its answer says that it was not."""
        assert response is not None
        where = self._where(meeting.version)
        if not min(where):
            return self._refused(meeting.request, meeting.version, where)  # type: ignore[no-any-return]
        own = own_copy(response, meeting.version)
        self._refuse_what_is_answered(meeting, meeting.request, own)
        return own  # type: ignore[no-any-return]

    def _refuse_what_is_answered(self, meeting: Interception, request: Request, own: Any) -> None:
        """Of a request for everything."""
        version, names = meeting.version, meeting.rules.topic_name
        (where,) = self._where(version)
        base = own_values(request, version)

        def is_meant(values: dict[str, Any]) -> bool:
            return self._narrowing.fits(resolved({**base, **values}, names))

        refuse_entries(own, version, where, self._error, is_meant)


def _of_other_transactions(
    taken: Request, rest: Request, version: int, where: frozenset[int], answer: Any
) -> Any:
    """What is left when one partition fails of a transaction: none of it is added. The others of it
    are added to the answer, which says so."""
    ended = {entry[TRANSACTIONAL_ID] for entry in entries(taken, version, _no_names)}
    others, rest = sifted(rest, version, _no_names, lambda e: e[TRANSACTIONAL_ID] in ended)
    if others is not None:
        refusal = refused(others, version, where, Error.OPERATION_NOT_ATTEMPTED)
        merge(answer, Part(others, others, refusal), version)
    return rest


def _no_names(topic_id: bytes) -> None:
    """No topic is named by its id there."""


def _is_silent(request: Request) -> bool:
    return isinstance(request, ProduceRequest) and request.acks == 0
