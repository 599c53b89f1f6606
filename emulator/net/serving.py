"""From a frame to a handler, and from what it returns to a frame.

Rules (semantics: SocketServer.processCompletedReceives):
- An unknown API, a version that is not served, a bad header or an undecodable body closes the
  connection without an answer. ApiVersions alone is answered in v0 when its version is not served.
- A large request is decoded in slices (base/turns.py). Not so Produce: it has few items for its
  size, and what is sent without waiting for answers is served even if its client then hangs up.
- What could be decoded passes the chain of steps (base/chain.py), if there are any, then goes to
  its handler.
- A handler returns a response, or PARKED after keeping the call to answer it later, or NO_REPLY.
  One that is a generator function is carried out in slices (base/turns.py).
  An exception of a handler, `Refused` too, is a defect of ours: it is logged, and the connection
  closed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import GeneratorType
from typing import TYPE_CHECKING, TypeAlias

from ...wire import Buffer, Request, Response, WireError
from ...wire.api.produce import ProduceRequest
from ...wire.codec.messages import read_in_slices, read_message
from ...wire.frames import SMALL, Frame
from ...wire.headers import API_VERSIONS, read_request_header
from ..base.call import NO_REPLY, PARKED, Call, Sentinel
from ..base.chain import Passage
from ..base.logger import log
from ..base.turns import Slices
from ..handlers.api_versions import UNKNOWN_VERSION, note_software
from ..handlers.registry import SERVED, Served
from .response_cache import Encoded

if TYPE_CHECKING:
    from ..cluster import Cluster
    from .connection import Connection

Kept: TypeAlias = Callable[[list[Buffer]], Encoded | None]


def serve(cluster: Cluster, connection: Connection, frame: Frame) -> Response | Encoded | Sentinel:
    """Decode one frame and call its handler. Returns what the handler returned; the call stays on
    the connection as its current one. NO_REPLY when the connection was closed."""
    try:
        header, pos = read_request_header(frame)
        connection.client_id = header.client_id
        connection.requests += 1
        key, version = header.api_key, header.api_version
        if connection.requests == 1 and key != API_VERSIONS:
            cluster.telling.met(connection, header.client_id)
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
            served, call.version = UNKNOWN_VERSION, 0
            request: Request = served.request()
        elif len(frame) > SMALL and served.request is not ProduceRequest:
            cluster.turns.begin(_serve_large(cluster, connection, call, served, frame, pos))
            return PARKED
        elif served.is_cached and not cluster.chain:
            return _serve_cached(cluster, call, served, bytes(frame[pos:]))
        else:
            request, _ = read_message(served.request, frame, version, pos)
    except WireError as error:
        connection.malformed(error, frame)
        return NO_REPLY
    return _serve_decoded(cluster, connection, call, served, request, frame)


def _serve_large(
    cluster: Cluster, connection: Connection, call: Call, served: Served, frame: Frame, pos: int
) -> Slices[None]:
    """The same for a frame that may have so many items that decoding it takes many turns."""
    try:
        request = yield from read_in_slices(served.request, frame, call.version, pos)
    except WireError as error:
        connection.malformed(error, frame)
        return
    if served.is_told:
        api = served.request.__name__.removesuffix("Request")
        cluster.journal.add("large request", client=connection.name, api=api)
    outcome = _serve_decoded(cluster, connection, call, served, request, frame, is_told=False)
    if outcome is not PARKED:
        call.answer(outcome if isinstance(outcome, Response) else None)


def _serve_decoded(
    cluster: Cluster,
    connection: Connection,
    call: Call,
    served: Served,
    request: Request,
    frame: Frame,
    *,
    is_told: bool = True,
) -> Response | Sentinel:
    if call.api_key == API_VERSIONS:
        note_software(call, request)
        cluster.telling.met(connection, call.client_id)
    if not served.is_told:
        connection.is_at_work = True
    elif is_told and cluster.journal.is_on:
        call.request = request
    if not cluster.chain:
        return handle(cluster, call, served, request)
    at_the_end = partial(handle, cluster, call, served)
    call.frame = frame
    call.passage = Passage(cluster.chain, call, request, at_the_end)
    call.passage.go_on()
    return PARKED


def handle(
    cluster: Cluster, call: Call, served: Served, request: Request, kept: Kept | None = None
) -> Response | Sentinel:
    """Call a handler; what it does in slices goes on in later turns. `kept` is called with the
    encoding of such an answer."""
    try:
        outcome = served.handler(cluster, call, request)
    except Exception:
        return _failed(call, served)
    if not isinstance(outcome, GeneratorType):
        return outcome  # type: ignore[return-value]  # no handler returns another Generator
    try:
        waits = next(outcome)  # what is short ends here
    except StopIteration as end:
        found: Response | Sentinel = end.value
        return found
    except Exception:
        return _failed(call, served)
    cluster.turns.begin(_in_slices(call, served, waits, outcome, kept))
    return PARKED


def _in_slices(
    call: Call,
    served: Served,
    waits: None,
    slices: Slices[Response | Sentinel],
    kept: Kept | None,
) -> Slices[None]:
    """Go on with a handler after its first slice, and answer with what it returns; `kept` is called
    with its encoding."""
    yield waits
    try:
        outcome = yield from slices
        if isinstance(outcome, Response):
            body = yield from call.prepare(outcome)
            if kept is not None:
                kept(body)
    except Exception:
        _failed(call, served)
        return
    if outcome is not PARKED:
        call.answer(outcome if isinstance(outcome, Response) else None)


def _failed(call: Call, served: Served) -> Sentinel:
    name = served.request.__name__
    log.exception("closing %s: %s v%d failed", call.connection, name, call.version)
    call.connection.close()
    return NO_REPLY


def _serve_cached(
    cluster: Cluster, call: Call, served: Served, body: bytes
) -> Response | Encoded | Sentinel:
    """Answer as before, if the request is the same and nothing has changed. Raises WireError."""
    key = (call.api_key, call.version, body, call.connection.listener)
    generation = cluster.topics.generation
    known = cluster.answers.find(key, generation)
    if known is not None:
        return known
    request, _ = read_message(served.request, body, call.version)
    if cluster.journal.is_on:
        call.request = request

    def kept(parts: list[Buffer]) -> Encoded | None:
        if cluster.topics.generation != generation:
            return None
        return cluster.answers.keep(key, b"".join(parts), generation)

    response = handle(cluster, call, served, request, kept)
    if not isinstance(response, Response):
        return response
    if cluster.journal.is_on and cluster.telling.answered(call, request, response):
        call.request = None
        return response  # not kept, so that what is refused again is told again
    return kept(response.parts(call.version)) or response
