"""Narrowing: which requests of an API a rule is about.

Which API a rule is about: by the class of its request, or by its name.

Errors that brokers answer to an API, as far as that is known: for the APIs that producers and
consumers use. Of the others any error is allowed.

Source: Kafka's handlers, the comments at the head of its response classes, and its clients, which
treat what is not here as a defect. UNKNOWN_SERVER_ERROR is what any failure of a broker becomes.
"""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ....wire import Error, Request
from ....wire.api import API_MODULES, api_name, request_class
from ...base.fitting import described, fits, shown
from ...division.entries import ALL, Entry, said
from ...division.places import NARROWED_BY, narrowed_by
from ...handlers.registry import SERVED

if TYPE_CHECKING:
    from ...base.call import Call


def name_of(request: type[Request]) -> str:
    """As in "Produce"."""
    return request.__name__.removesuffix("Request")


def api_of(given: type[Request] | str) -> type[Request]:
    """The request of an API, given as its class or its name. Raises TypeError, ValueError."""
    if isinstance(given, str):
        return _named(given)
    if not isinstance(given, type) or not issubclass(given, Request):
        raise TypeError(f'an API is the class of its request, or a name as "Produce": {given!r}')
    if given.api_key not in SERVED:
        raise ValueError(f"this broker does not serve {name_of(given)}")
    return given


def _named(given: str) -> type[Request]:
    known = {_plain(module): key for key, module in API_MODULES.items()}
    key = known.get(_plain(given).removesuffix("request"))
    if key is not None:
        return api_of(request_class(key))
    names = [api_name(key) for key in SERVED]
    lower = {_plain(name): name for name in names}
    near = [lower[each] for each in difflib.get_close_matches(_plain(given), lower, 3, 0.5)]
    likely = f"; do you mean {' or '.join(near)}?" if near else f". There are {', '.join(names)}"
    raise ValueError(f"there is no API {given!r}{likely}")


def _plain(name: str) -> str:
    return re.sub(r"[_\s]", "", name).lower()


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
        """Those that it leaves, as far as they can be described before a request comes."""
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
    return described(expected) if callable(expected) else repr(expected)


_COORDINATOR = "COORDINATOR_NOT_AVAILABLE COORDINATOR_LOAD_IN_PROGRESS NOT_COORDINATOR"
_GROUP = f"{_COORDINATOR} GROUP_AUTHORIZATION_FAILED INVALID_GROUP_ID"
_MEMBER = f"{_GROUP} UNKNOWN_MEMBER_ID FENCED_INSTANCE_ID"
_CLASSIC = f"{_MEMBER} ILLEGAL_GENERATION REBALANCE_IN_PROGRESS"
_PARTITION = (
    "UNKNOWN_TOPIC_OR_PARTITION TOPIC_AUTHORIZATION_FAILED NOT_LEADER_OR_FOLLOWER UNKNOWN_TOPIC_ID"
    " KAFKA_STORAGE_ERROR LEADER_NOT_AVAILABLE REPLICA_NOT_AVAILABLE FENCED_LEADER_EPOCH"
    " UNKNOWN_LEADER_EPOCH UNSUPPORTED_FOR_MESSAGE_FORMAT INCONSISTENT_TOPIC_ID"
)
_PRODUCER = (
    "INVALID_PRODUCER_EPOCH PRODUCER_FENCED INVALID_PRODUCER_ID_MAPPING INVALID_TXN_STATE"
    " CONCURRENT_TRANSACTIONS TRANSACTIONAL_ID_AUTHORIZATION_FAILED TRANSACTION_ABORTABLE"
)
_TRANSACTION = f"{_COORDINATOR} {_PRODUCER} INVALID_REQUEST UNSUPPORTED_VERSION"
_OFFSETS = f"{_CLASSIC} STALE_MEMBER_EPOCH FENCED_MEMBER_EPOCH GROUP_ID_NOT_FOUND"
_EVERYWHERE = frozenset(
    {
        *(Error.UNKNOWN_SERVER_ERROR, Error.UNSUPPORTED_VERSION, Error.INVALID_REQUEST),
        *(Error.CLUSTER_AUTHORIZATION_FAILED, Error.ILLEGAL_SASL_STATE),
    }
)

_MOST_NAMED = 8

_TABLE = {
    0: f"{_PARTITION} {_PRODUCER} CORRUPT_MESSAGE MESSAGE_TOO_LARGE INVALID_TOPIC_EXCEPTION"
    " RECORD_LIST_TOO_LARGE NOT_ENOUGH_REPLICAS NOT_ENOUGH_REPLICAS_AFTER_APPEND"
    " INVALID_REQUIRED_ACKS INVALID_TIMESTAMP INVALID_RECORD"
    " OUT_OF_ORDER_SEQUENCE_NUMBER DUPLICATE_SEQUENCE_NUMBER"
    " UNKNOWN_PRODUCER_ID REQUEST_TIMED_OUT UNSUPPORTED_COMPRESSION_TYPE POLICY_VIOLATION"
    " COORDINATOR_LOAD_IN_PROGRESS COORDINATOR_NOT_AVAILABLE NOT_COORDINATOR",
    1: f"{_PARTITION} OFFSET_OUT_OF_RANGE CORRUPT_MESSAGE UNSUPPORTED_COMPRESSION_TYPE"
    " OFFSET_NOT_AVAILABLE OFFSET_MOVED_TO_TIERED_STORAGE POSITION_OUT_OF_RANGE"
    " FETCH_SESSION_ID_NOT_FOUND INVALID_FETCH_SESSION_EPOCH FETCH_SESSION_TOPIC_ID_ERROR"
    " REQUEST_TIMED_OUT",
    2: f"{_PARTITION} OFFSET_NOT_AVAILABLE REQUEST_TIMED_OUT OFFSET_OUT_OF_RANGE",
    3: f"{_PARTITION} INVALID_TOPIC_EXCEPTION LISTENER_NOT_FOUND BROKER_NOT_AVAILABLE"
    " REBOOTSTRAP_REQUIRED INVALID_PARTITIONS INVALID_REPLICATION_FACTOR POLICY_VIOLATION"
    " THROTTLING_QUOTA_EXCEEDED REQUEST_TIMED_OUT TOPIC_ALREADY_EXISTS",
    8: f"{_OFFSETS} {_PARTITION} OFFSET_METADATA_TOO_LARGE INVALID_COMMIT_OFFSET_SIZE"
    " REQUEST_TIMED_OUT",
    9: f"{_OFFSETS} {_PARTITION} UNSTABLE_OFFSET_COMMIT",
    10: f"{_GROUP} TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
    11: f"{_CLASSIC} INCONSISTENT_GROUP_PROTOCOL INVALID_SESSION_TIMEOUT MEMBER_ID_REQUIRED"
    " GROUP_MAX_SIZE_REACHED UNSUPPORTED_ASSIGNOR",
    12: _CLASSIC,
    13: _CLASSIC,
    14: f"{_CLASSIC} INCONSISTENT_GROUP_PROTOCOL",
    22: f"{_TRANSACTION} INVALID_TRANSACTION_TIMEOUT TRANSACTIONAL_ID_NOT_FOUND",
    24: f"{_TRANSACTION} UNKNOWN_TOPIC_OR_PARTITION TOPIC_AUTHORIZATION_FAILED"
    " OPERATION_NOT_ATTEMPTED INVALID_TOPIC_EXCEPTION",
    25: f"{_TRANSACTION} {_GROUP}",
    26: _TRANSACTION,
    28: f"{_TRANSACTION} {_OFFSETS} {_PARTITION} OFFSET_METADATA_TOO_LARGE"
    " INVALID_COMMIT_OFFSET_SIZE REQUEST_TIMED_OUT",
    68: f"{_MEMBER} UNRELEASED_INSTANCE_ID FENCED_MEMBER_EPOCH UNSUPPORTED_ASSIGNOR"
    " GROUP_MAX_SIZE_REACHED INVALID_REGULAR_EXPRESSION TOPIC_AUTHORIZATION_FAILED"
    " GROUP_ID_NOT_FOUND INCONSISTENT_GROUP_PROTOCOL",
}
"""By the key of the API."""

POSSIBLE = {key: frozenset(Error[name] for name in text.split()) for key, text in _TABLE.items()}


def check_possible(request: type[Request], error: Error, *, anyway: bool) -> None:
    """Raises ValueError for an error that brokers do not answer to this API, unless `anyway`."""
    known = POSSIBLE.get(request.api_key)
    if anyway or known is None or error in known | _EVERYWHERE:
        return
    names = sorted(each.name for each in known)
    near = difflib.get_close_matches(error.name, names, 3) or names[:_MOST_NAMED]
    elsewhere = [name_of(request_class(key)) for key, errors in POSSIBLE.items() if error in errors]
    says = f"no broker answers {error.name} to {name_of(request)}"
    others = f" (it is answered to {', '.join(elsewhere)})" if elsewhere else ""
    raise ValueError(
        f"{says}{others}, but for instance {', '.join(near)}; or fail(..., anyway=True)"
    )
