"""Exchange: one request, its answer, and what became of it.

The bytes are kept as they went over the wire, and decoded when somebody asks. What a broker could
not decode either is there too: its `request` is None.

Peer: a connection as a journal keeps it.

Which topics a message names: found by the names of its fields, once for each class.

Topics are named by name or by id. An id is looked up among those that are known from answers to
Metadata and CreateTopics, and from the cluster itself.

What goes wrong with files of journals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple

from ....wire import NO_ID, Error, Message, WireError
from ....wire.api import API_MODULES, api_name, request_class, response_class
from ....wire.headers import API_VERSIONS, read_request_header, read_response_header
from ....wire.schema import Struct
from ...base.addresses import bracketed
from ...base.call import UNKNOWN_SOFTWARE, ClientSoftware
from ..refusals import Refusal, refusals


class Address(NamedTuple):
    """One end of a connection. The host is a number, such as "127.0.0.1" or "::1"."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{bracketed(self.host)}:{self.port}"


NOWHERE = Address("127.0.0.1", 0)
"""Of a connection without a socket."""


@dataclass(slots=True, eq=False)
class Peer:
    """A connection: its two ends, and the software that its client says it is."""

    number: int
    """From 1 on, in the order in which they first sent a request."""
    client: Address
    broker: Address
    node_id: int = -1
    """The broker that was asked; -1 if that is not known."""
    software: ClientSoftware = UNKNOWN_SOFTWARE
    topic_names: dict[bytes, str] = field(default_factory=dict, repr=False)
    """Topic id -> name; one for all connections of a journal."""

    def __str__(self) -> str:
        to = f"broker {self.node_id} at " if self.node_id >= 0 else ""
        return f"connection {self.number} from {self.client} to {to}{self.broker}"


_NAMES = frozenset({"topic", "topic_name"})
_LISTS_OF_NAMES = frozenset({"topic_names", "subscribed_topic_names"})
_NAMED_BY_NAME = ("Topic", "CreatePartitionsResponse.Result")
_TOPIC_RESOURCE = 2


class _Shape(NamedTuple):
    """Where a struct names topics."""

    names: tuple[str, ...]
    lists: tuple[str, ...]
    ids: tuple[str, ...]
    has_resource: bool
    parts: tuple[tuple[str, bool, _Shape], ...]
    """Fields that hold structs, whether as a list, and what is in these."""


def topics_of(message: Message, known: Mapping[bytes, str]) -> Iterator[str]:
    """Each topic that a message names, perhaps several times; those whose id is not known are left
    out."""
    return _topics(message, _shape(type(message)), known)


def ids_of(message: Message) -> Iterator[tuple[bytes, str]]:
    """Ids of topics and their names, where a message has both."""
    return _ids(message, _shape(type(message)))


def _topics(struct: Any, shape: _Shape, known: Mapping[bytes, str]) -> Iterator[str]:
    for name in shape.names:
        if value := getattr(struct, name):
            yield value
    for name in shape.lists:
        yield from getattr(struct, name) or ()
    for name in shape.ids:
        if (found := known.get(bytes(getattr(struct, name)))) is not None:
            yield found
    if shape.has_resource and struct.resource_type == _TOPIC_RESOURCE and struct.resource_name:
        yield struct.resource_name
    for part, below in _parts(struct, shape):
        yield from _topics(part, below, known)


def _ids(struct: Any, shape: _Shape) -> Iterator[tuple[bytes, str]]:
    if len(shape.names) == 1 and len(shape.ids) == 1:
        topic_id, name = bytes(getattr(struct, shape.ids[0])), getattr(struct, shape.names[0])
        if name and topic_id != NO_ID:
            yield topic_id, name
    for part, below in _parts(struct, shape):
        yield from _ids(part, below)


def _parts(struct: Any, shape: _Shape) -> Iterator[tuple[Any, _Shape]]:
    for name, is_list, below in shape.parts:
        value = getattr(struct, name)
        if is_list:
            for part in value or ():
                yield part, below
        elif value is not None:
            yield value, below


@cache
def _shape(cls: type[Struct]) -> _Shape:
    names, lists, ids, parts = [], [], [], []
    has = {field.name for field, _ in cls.fields()}
    is_topic = cls.__qualname__.endswith(_NAMED_BY_NAME)
    for each, kind in cls.fields():
        if kind.struct is not None:
            below = _shape(kind.struct)
            if any(below):
                parts.append((each.name, kind.is_list, below))
        elif (each.name in _NAMES and not kind.is_list) or (each.name == "name" and is_topic):
            names.append(each.name)
        elif each.name in _LISTS_OF_NAMES and kind.is_list:
            lists.append(each.name)
        elif each.name == "topic_id" and not kind.is_list:
            ids.append(each.name)
    has_resource = {"resource_type", "resource_name"} <= has
    return _Shape(tuple(names), tuple(lists), tuple(ids), has_resource, tuple(parts))


WAITING, ANSWERED, NO_REPLY = "waiting", "answered", "no reply"
CLOSED, MALFORMED = "closed", "malformed"
OUTCOMES = (WAITING, ANSWERED, NO_REPLY, CLOSED, MALFORMED)
_OLDEST = 0
_MOST_SHOWN = 3


@dataclass(slots=True, eq=False, repr=False)
class Exchange:
    """One request and what became of it."""

    number: int
    """From 1 on, in the order in which requests were taken up, also of those dropped since."""
    connection: Peer
    api_key: int
    version: int
    correlation_id: int
    client_id: str
    time_ms: float
    """When the broker took it up, in real ms since 1970, with microseconds."""
    clock_ms: int
    """The same by the broker's clock, which a test may move."""
    request_frame: bytes
    """Without its size: header and body. Of a very long one only the beginning is kept."""
    request_size: int
    """The length of the whole frame."""
    response_frame: bytes | None = None
    response_size: int = 0
    duration_ms: float | None = None
    """Real ms until it was answered, or closed; None while it waits."""
    outcome: str = WAITING
    """waiting: not answered yet; it waits for records or members, or a rule holds it. answered. no
    reply: none is due (acks=0), or a rule keeps it back. closed: the connection ended before the
    answer. malformed: the broker could not decode it, and closed the connection."""
    reason: str = ""
    """Of what is malformed."""
    notes: list[str] = field(default_factory=list)
    """Rules that have applied to it, by name."""
    is_kept: bool = True

    @property
    def api(self) -> str:
        """Kafka's name, such as "Fetch"; "API 99" if it has none here."""
        return api_name(self.api_key) if self.api_key in API_MODULES else f"API {self.api_key}"

    @property
    def node_id(self) -> int:
        """The broker that was asked; -1 if that is not known."""
        return self.connection.node_id

    @property
    def software(self) -> ClientSoftware:
        """What the client says it is."""
        return self.connection.software

    @property
    def request(self) -> Any:
        """The request, decoded; None if it cannot be."""
        if self.api_key not in API_MODULES:
            return None
        try:
            _, pos = read_request_header(self.request_frame)
            return request_class(self.api_key).decode(self.request_frame, self.version, pos)
        except WireError:
            return None

    @property
    def response(self) -> Any:
        """The answer, decoded; None if there is none, or it cannot be."""
        frame = self.response_frame
        if frame is None or self.api_key not in API_MODULES:
            return None
        try:
            version = self.response_version
            _, pos = read_response_header(frame, self.api_key, version)
            return response_class(self.api_key).decode(frame, version, pos)
        except WireError:
            return None

    @property
    def response_version(self) -> int:
        """That of the answer: 0 if a version of ApiVersions is refused (KIP-511)."""
        frame = self.response_frame
        if self.api_key != API_VERSIONS or frame is None:
            return self.version
        error = int.from_bytes(frame[4:6], "big")
        return _OLDEST if error == Error.UNSUPPORTED_VERSION else self.version

    @property
    def errors(self) -> list[Error]:
        """Each error in the answer."""
        return [each.error for each in self._refusals()]

    @property
    def topics(self) -> list[str]:
        """The topics that the request and the answer name, each once."""
        names = self.connection.topic_names
        both = [message for message in (self.request, self.response) if message is not None]
        return list(dict.fromkeys(name for each in both for name in topics_of(each, names)))

    @property
    def time(self) -> datetime:
        """`time_ms` as a datetime, in UTC."""
        return datetime.fromtimestamp(self.time_ms / 1000, UTC)

    def __str__(self) -> str:
        return "".join(self._text())

    def __repr__(self) -> str:
        return f"<{self}>"

    def _text(self) -> Iterator[str]:
        yield f"#{self.number} {self.time:%H:%M:%S.%f} {self.api} v{self.version}"
        if topics := self.topics:
            yield f" of {_listed(topics)}"
        yield f" from {self.client_id or 'a client without an id'} ({self.connection.client}): "
        yield self.outcome
        if self.duration_ms is not None:
            yield f" after {self.duration_ms:.1f} ms"
        if self.outcome == ANSWERED:
            yield f", {self.response_size} bytes"
        if self.reason:
            yield f", {self.reason}"
        if refused := self._refusals():
            yield f", {_listed([_refused(each) for each in refused])}"
        if self.notes:
            yield f" [{'; '.join(self.notes)}]"

    def _refusals(self) -> list[Refusal]:
        response = self.response
        try:
            return [] if response is None else refusals(response)
        except ValueError:  # a code that a later Kafka has
            return []


def _refused(refusal: Refusal) -> str:
    place = refusal.topic and f" for {refusal.topic}-{refusal.partition}".removesuffix("--1")
    return f"{refusal.error.name}{place}"


def _listed(items: list[str]) -> str:
    each = list(dict.fromkeys(items))
    more = f" and {len(each) - _MOST_SHOWN} more" if len(each) > _MOST_SHOWN else ""
    return ", ".join(each[:_MOST_SHOWN]) + more


class NotAJournal(ValueError):
    """A file that no journal can be read from; says why."""
