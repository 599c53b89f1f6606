"""A call: one request, and what a handler may return instead of a response.

A handler returns a response, or PARKED after keeping the call to answer it later, or NO_REPLY.
What a request passes before its handler, and its answer afterwards: chain.py.

The client of a connection: its principal, and its software.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeAlias

from ...wire import Buffer, Error, Refused, Request, Response
from ...wire.codec.messages import write_in_slices, write_parts
from ...wire.frames import Part
from ...wire.headers import answer_frame
from .turns import Slices

if TYPE_CHECKING:
    from .chain import InterceptedCall


class Principal(NamedTuple):
    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


def principal_details(principal: Principal) -> dict[str, str]:
    """Details of an event that name who did it; none of a client that has not authenticated."""
    return {} if principal == ANONYMOUS else {"principal": f" ({principal})"}


ANONYMOUS = Principal("User", "ANONYMOUS")
"""The principal of every client of a listener without authentication."""


class ClientSoftware(NamedTuple):
    """The name and version that a client sends in ApiVersions, from v3 on (KIP-511)."""

    name: str
    version: str


UNKNOWN_SOFTWARE = ClientSoftware("unknown", "unknown")
"""Kafka's name for the software of a client that has not sent it."""


UNSUPPORTED_VERSION_TEXT = "The version of API is not supported."
UNEXPECTED_TEXT = "The server experienced an unexpected error when processing the request."
"""The message of UNKNOWN_SERVER_ERROR."""
INVALID_REQUEST_TEXT = (
    "This most likely occurs because of a request being malformed by the client library or the"
    " message was sent to an incompatible broker. See the broker logs for more details."
)
"""Kafka's message for INVALID_REQUEST where there is no other."""


class Sentinel:
    """PARKED or NO_REPLY: what a handler returns when it has no response now."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


TEST = "the test"
"""The name of a test in events, where it does something itself."""

PARKED: Final = Sentinel("PARKED")
NO_REPLY: Final = Sentinel("NO_REPLY")


Ends: TypeAlias = tuple[tuple[str, int], tuple[str, int]]
"""Host and port of the client, and those where the broker was reached."""


class Sender(Protocol):
    """The connection that a call came on, as far as a call uses it."""

    software: ClientSoftware
    name: str
    """The name of its client in events."""

    @property
    def client_host(self) -> str: ...

    @property
    def node_id(self) -> int: ...

    @property
    def listener(self) -> str: ...

    @property
    def principal(self) -> Principal: ...

    @property
    def is_open(self) -> bool: ...

    def ends(self) -> Ends | None: ...

    def answer(self, call: Call, response: Response | None) -> None: ...

    def mute(self, milliseconds: int) -> None: ...

    def close(self) -> None: ...


class Call:
    """One request: what a handler may know about its sender, and how to answer it."""

    __slots__ = (
        "api_key",
        "client_id",
        "connection",
        "correlation_id",
        "frame",
        "notes",
        "now",
        "on_lost",
        "passage",
        "prepared",
        "request",
        "version",
    )

    def __init__(
        self,
        connection: Sender,
        api_key: int,
        version: int,
        correlation_id: int,
        client_id: str,
        now: int,
    ) -> None:
        self.connection = connection
        self.api_key = api_key
        self.version = version
        self.correlation_id = correlation_id
        self.client_id = client_id
        self.now = now
        # Called when the connection goes away while this call is parked.
        self.on_lost: Callable[[], None] | None = None
        # Its passage through the chain of steps, if there are any.
        self.passage: InterceptedCall | None = None
        # An answer that is encoded already, and its body.
        self.prepared: tuple[Response, list[Buffer]] | None = None
        # The bytes of its frame, for the steps of the chain, if there are any.
        self.frame: Buffer | None = None
        # What steps have noted about it, if somebody keeps that.
        self.notes: list[str] | None = None
        # Kept if its answer is to be logged (control/client_tracker.py).
        self.request: Request | None = None

    @property
    def client_host(self) -> str:
        """The address of the client, without its port."""
        return self.connection.client_host

    @property
    def node_id(self) -> int:
        """The broker whose listener was asked."""
        return self.connection.node_id

    @property
    def listener(self) -> str:
        return self.connection.listener

    @property
    def principal(self) -> Principal:
        return self.connection.principal

    @property
    def has_token(self) -> bool:
        return bool(getattr(self.connection, "has_token", False))

    @property
    def software(self) -> ClientSoftware:
        """Name and version of the client's software by ApiVersions."""
        return self.connection.software

    @property
    def is_open(self) -> bool:
        return self.connection.is_open

    @property
    def reads_later(self) -> bool:
        """Whether stored records may stay in their files until the answer is sent."""
        return self.passage is None or self.passage.reads_later

    def answer(self, response: Response | None) -> None:
        """Answer a parked call; None ends it without a response. On a closed connection the answer
        is dropped."""
        if self.passage is None:
            self.connection.answer(self, response)
        else:
            self.passage.answer(response)

    def go_on(self, instead: Request | None = None) -> None:
        """Continue a call that a step of the chain holds, with another request if one is given;
        without effect on others."""
        if self.passage is not None:
            self.passage.go_on(instead)

    def note(self, text: str) -> None:
        """A step says what it has done to this request, for whoever keeps a journal of them."""
        if self.notes is not None:
            self.notes.append(text)

    def mute(self, milliseconds: int) -> None:
        """Take up no further request of the connection before so much real time has passed: what
        a broker does to a client over its quota, which it has answered (KIP-219)."""
        self.connection.mute(milliseconds)

    def close(self) -> None:
        """Close the connection: a broker's refusal where the protocol has no error for it."""
        self.connection.close()

    def prepare(self, response: Response) -> Slices[list[Buffer]]:
        """Encode an answer before it is given, in slices. Raises WireError."""
        if self.passage is not None:  # a step may still change it
            return []
        body = yield from write_in_slices(response, self.version)
        self.prepared = response, body
        return body

    def encode(self, response: Response) -> list[Part]:
        """The frame of a response as buffers. Raises WireError if it cannot be encoded."""
        prepared = self.prepared
        if prepared is not None and prepared[0] is response:
            body, self.prepared = prepared[1], None
        else:
            body = write_parts(response, self.version)
        return answer_frame(self.correlation_id, self.api_key, self.version, body)


_OF_COORDINATORS = {
    Error.UNKNOWN_TOPIC_OR_PARTITION: Error.COORDINATOR_NOT_AVAILABLE,
    Error.NOT_ENOUGH_REPLICAS: Error.COORDINATOR_NOT_AVAILABLE,
    Error.NOT_ENOUGH_REPLICAS_AFTER_APPEND: Error.COORDINATOR_NOT_AVAILABLE,
    Error.REQUEST_TIMED_OUT: Error.COORDINATOR_NOT_AVAILABLE,
    Error.NOT_LEADER_OR_FOLLOWER: Error.NOT_COORDINATOR,
    Error.KAFKA_STORAGE_ERROR: Error.NOT_COORDINATOR,
    Error.MESSAGE_TOO_LARGE: Error.UNKNOWN_SERVER_ERROR,
    Error.RECORD_LIST_TOO_LARGE: Error.UNKNOWN_SERVER_ERROR,
    Error.INVALID_FETCH_SIZE: Error.UNKNOWN_SERVER_ERROR,
}


def as_coordinator(refused: Refused) -> Refused:
    """What clients are answered where a coordinator, of groups or of transactions, could not write
    a record; errors that have no other code are passed on."""
    return Refused(_OF_COORDINATORS.get(refused.error, refused.error), refused.message)
