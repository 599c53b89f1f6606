"""From a frame to a handler, and from what it returns to a frame.

Rules (semantics: SocketServer.processCompletedReceives):
- An unknown API, a version that is not served, a bad header or an undecodable body closes the
  connection without an answer. ApiVersions alone is answered in v0 when its version is too high.
- A handler returns a response, or PARKED after keeping the call to answer it later, or NO_REPLY.
- A `Refused` that reaches this place becomes the error the request's own `refuse` gives it; any
  other exception is a defect of ours: it is logged, and the connection closed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ..wire import Request, Response, WireError
from ..wire.codec import read_message
from ..wire.headers import API_VERSIONS, read_request_header, write_response_header
from .answers import Encoded

if TYPE_CHECKING:
    from .cluster import Cluster
    from .connection import Connection

log = logging.getLogger("odradek")

INVALID_REQUEST_TEXT = (
    "This most likely occurs because of a request being malformed by the client library or the"
    " message was sent to an incompatible broker. See the broker logs for more details."
)
"""What clients are shown when a broker says INVALID_REQUEST and has no words of its own."""


class Sentinel:
    """PARKED or NO_REPLY: what a handler returns when it has no response now."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


PARKED: Final = Sentinel("PARKED")
NO_REPLY: Final = Sentinel("NO_REPLY")

Parked = Sentinel
R = TypeVar("R", bound=Request)
Handler = Callable[["Cluster", "Call", Any], Response | Sentinel]


class Served:
    """One API that is emulated; in which versions it is served the release says."""

    __slots__ = ("handler", "is_cached", "request")

    def __init__(self, request: type[Request], handler: Handler, is_cached: bool) -> None:
        self.request = request
        self.handler = handler
        self.is_cached = is_cached


SERVED: dict[int, Served] = {}


def handles(
    request: type[R], *, cached: bool = False
) -> Callable[
    [Callable[[Cluster, Call, R], Response | Sentinel]],
    Callable[[Cluster, Call, R], Response | Sentinel],
]:
    """Register a handler, for every version that the releases of Kafka have (release.py).

    `cached`: the answer follows from the bytes of the request and the catalogue alone, and may be
    given again (answers.py).
    """

    def register(
        handler: Callable[[Cluster, Call, R], Response | Sentinel],
    ) -> Callable[[Cluster, Call, R], Response | Sentinel]:
        SERVED[request.api_key] = Served(request, handler, cached)
        return handler

    return register


class Call:
    """One request on its way: what a handler may know of its sender, and the way to answer it."""

    __slots__ = (
        "api_key",
        "client_id",
        "connection",
        "correlation_id",
        "now",
        "on_lost",
        "version",
    )

    def __init__(
        self,
        connection: Connection,
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

    @property
    def client_host(self) -> str:
        """The address of the client, without its port."""
        return self.connection.client_host

    @property
    def node_id(self) -> int:
        """The broker whose listener was asked."""
        return self.connection.node_id

    def answer(self, response: Response | None) -> None:
        """Answer a parked call; None lets it go without an answer. A closed connection is no
        error: the answer goes nowhere."""
        self.connection.answer(self, response)

    def close(self) -> None:
        """Close the connection, which is how a broker says no when it has no words for it."""
        self.connection.close()

    def encode(self, response: Response | Encoded) -> list[Any]:
        """The response as buffers, header first. Raises WireError if it cannot be written."""
        header = write_response_header(self.correlation_id, self.api_key, self.version)
        return [header, *response.parts(self.version)]


def serve(
    cluster: Cluster, connection: Connection, frame: bytearray
) -> Response | Encoded | Sentinel:
    """Decode one frame and hand it to its handler. Returns what the handler said; the call stays
    on the connection as its current one. NO_REPLY when the connection was closed."""
    try:
        header, pos = read_request_header(frame)
        key, version = header.api_key, header.api_version
        served = SERVED.get(key)
        if served is None:
            raise WireError(f"API key {key} is not served")
        call = Call(
            connection, key, version, header.correlation_id, header.client_id, cluster.clock.now()
        )
        connection.current = call
        if not cluster.release.serves(key, version):
            if key != API_VERSIONS:
                raise WireError(f"{served.request.__name__} v{version} is not served")
            return cluster.api_versions_fallback(call)
        if served.is_cached:
            return _serve_cached(cluster, call, served, bytes(frame[pos:]))
        request, _ = read_message(served.request, frame, version, pos)
    except WireError as error:
        log.info("closing %s: %s", connection, error)
        connection.close()
        return NO_REPLY
    return _handle(cluster, call, served, request)


def _handle(cluster: Cluster, call: Call, served: Served, request: Request) -> Response | Sentinel:
    try:
        return served.handler(cluster, call, request)
    except Exception:
        name = served.request.__name__
        log.exception("closing %s: %s v%d failed", call.connection, name, call.version)
        call.connection.close()
        return NO_REPLY


def _serve_cached(
    cluster: Cluster, call: Call, served: Served, body: bytes
) -> Response | Encoded | Sentinel:
    """Answer as before if the same was asked before and nothing has changed. Raises WireError."""
    key = (call.api_key, call.version, body)
    generation = cluster.topics.generation
    known = cluster.answers.find(key, generation)
    if known is not None:
        return known
    request, _ = read_message(served.request, body, call.version)
    response = _handle(cluster, call, served, request)
    if isinstance(response, Response) and cluster.topics.generation == generation:
        return cluster.answers.keep(key, response, generation)
    return response
