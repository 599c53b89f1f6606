"""Requests that are refused: all of them, or the entries that a rule is about.

- What is refused is not carried out: the request goes on with the rest, and its answer has both
  (division/division.py).
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
from ...division.division import Division, Refusal, Refuse, divide, own_copy
from ...division.entries import Entry, entries, own_values, resolved
from ...division.places import PARTITION, TOPIC, TRANSACTIONAL_ID, answered, asked, depth_of
from ...division.places import Part as Place
from ...division.refusing import given_in_error, levels, refused, whole
from ..request_matcher import RequestMatcher, name_of
from .verb import Verb

if TYPE_CHECKING:
    from .interception import Interception


class Taken(NamedTuple):
    """What was taken out of a request."""

    request: Request
    """As it came."""
    division: Division | None
    """None if nothing was, as of one that asks for everything."""


def place_of(answer: Response, version: int) -> Place:
    """Where an answer has its entries, and their errors."""
    return answered(type(answer), version)


def has_error(answer: Any, version: int) -> bool:
    return _has_error(answer, place_of(answer, version))


def _has_error(item: Any, place: Place) -> bool:
    if place.code and getattr(item, place.code):
        return True
    return any(
        _has_error(each, below) for name, below in place.lists for each in getattr(item, name) or ()
    )


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
    def __init__(
        self, matcher: RequestMatcher, error: Error, message: str | None, *, is_after: bool = False
    ) -> None:
        """Raises ValueError if no version that is meant has a place for the error."""
        self._is_after = self.is_late = is_after
        self._matcher = matcher
        self._error = error
        self._message = message
        if not any(self._where(version) for version in matcher.versions):
            name = name_of(matcher.request)
            raise ValueError(f"the answer to {name} has no place for an error in these versions")

    def _where(self, version: int) -> frozenset[int]:
        """The levels of a response that have the error in a version."""
        request = self._matcher.request
        if request is FetchRequest and self._error not in OF_SESSIONS:
            return frozenset({2})
        depth = depth_of(asked(request, version), set(self._matcher.of_entry))
        if not depth:
            return whole(request, version)
        found = levels(request, version)
        below = [level for level in found if level >= depth]
        return frozenset(below[:1] or [level for level in found if not level])

    def no_place(self, meeting: Interception) -> list[str]:
        where = self._where(meeting.version)
        if not where:
            return [f"v{meeting.version} has no place for an error"]
        is_fetch = self._matcher.request is FetchRequest
        if min(where) and not self._matcher.of_entry and not is_fetch:
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
        if not self._matcher.of_entry or not min(where):
            return self._answered(meeting, self._refused(request, version, where))
        division = divide(
            request, version, meeting.rules.topic_name, {min(where): self._refuses(meeting)}
        )
        if division is not None and division.rest is None:
            return self._answered(meeting, division.answer())
        meeting.kept[self] = Taken(request, division)
        return None if division is None else division.rest

    def _refuses(self, meeting: Interception) -> Refuse:
        """What is answered to an entry."""
        fits, refusal = self._matcher.fits, Refusal(self._error, self._message)
        if not isinstance(meeting.request, AddPartitionsToTxnRequest):
            return lambda entry: refusal if fits(entry) else None
        # When one partition of a transaction fails, none of it is added.
        found = entries(meeting.request, meeting.version, meeting.rules.topic_name)
        ended = {entry[TRANSACTIONAL_ID] for entry in found if fits(entry)}

        def refuse(entry: Entry) -> Refusal | None:
            if fits(entry):
                return refusal
            is_of_ended = entry[TRANSACTIONAL_ID] in ended
            return Refusal(Error.OPERATION_NOT_ATTEMPTED, self._message) if is_of_ended else None

        return refuse

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
            if self._matcher.fits({**own, TOPIC: topic, PARTITION: partition}):
                raise Refused(self._error)

        passage.refuses = refuse

    def after(self, meeting: Interception, response: Response | None) -> Outcome:
        if self._is_after:
            return self._answered_all_the_same(meeting, response)
        taken = meeting.kept.pop(self, None)
        if taken is None:
            return None
        if response is None:
            meeting.call.close()
            return NO_REPLY
        own = own_copy(response, meeting.version)
        self._refuse_what_is_answered(meeting, taken.request, own)
        if taken.division is not None:
            taken.division.join(own, beside_errors=True)
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
            return self._matcher.fits(resolved({**base, **values}, names))

        refuse_entries(own, version, where, self._error, is_meant)


def _is_silent(request: Request) -> bool:
    return isinstance(request, ProduceRequest) and request.acks == 0
