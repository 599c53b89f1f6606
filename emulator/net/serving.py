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
from struct import Struct
from struct import error as StructError
from types import GeneratorType
from typing import TYPE_CHECKING, TypeAlias

from ...wire import Buffer, Request, Response, WireError
from ...wire.api.api_versions import ApiVersionsRequest
from ...wire.api.produce import ProduceRequest
from ...wire.codec.messages import DAMAGE, read_again, read_in_slices, reader
from ...wire.frames import SMALL, Frame
from ...wire.headers import API_VERSIONS, is_flexible, read_client_id, read_request_header
from ..base.call import NO_REPLY, PARKED, Call, Sentinel
from ..base.chain import InterceptedCall, Route
from ..base.logger import log
from ..base.release import Release, nearest_serving
from ..base.turns import Slices
from ..control.client_tracker import LEARNING
from ..control.refusals import finder
from ..handlers.api_versions import UNKNOWN_VERSION, note_software, software_of
from ..handlers.registry import SERVED, Served
from .response_cache import Encoded, Key, OfAnyController, place_of_controller

if TYPE_CHECKING:
    from ..cluster import Cluster
    from .connection import Connection

KeepAnswer: TypeAlias = Callable[[Response, list[Buffer]], None]

_HEAD = Struct(">Iih")
"""API key and version as one number, correlation id, length of the client id."""


class Endpoint:
    """One version of an API, as a cluster serves it."""

    __slots__ = ("api_key", "has_tags", "is_plain", "read", "route", "served", "version")

    def __init__(self, served: Served, version: int, route: Route, *, has_tags: bool) -> None:
        self.served = served
        self.api_key = served.request.api_key
        self.version = version
        self.route = route
        self.has_tags = has_tags
        """Whether headers of requests have tagged fields."""
        self.is_plain = not served.is_cached and self.api_key != API_VERSIONS
        """Whether there is nothing between a request and its handler but the chain."""
        self.read = reader(served.request, version)


def serve(cluster: Cluster, connection: Connection, frame: Frame) -> Response | Sentinel:
    """Decode one frame and call its handler. Returns what the handler returned; the call stays on
    the connection as its current one. PARKED also if it is answered already, NO_REPLY when the
    connection was closed."""
    try:
        try:
            number, correlation_id, length = _HEAD.unpack_from(frame)
            endpoint = cluster.endpoints[number]
        except (KeyError, StructError):
            endpoint = _endpoint(cluster, connection, frame)
            number, correlation_id, length = _HEAD.unpack_from(frame)
        client_id, pos = read_client_id(frame, length, endpoint.has_tags)
        key, version, served = endpoint.api_key, endpoint.version, endpoint.served
        connection.client_id = client_id
        if not connection.requests and key != API_VERSIONS:
            cluster.tracker.met(connection, client_id)
        connection.requests += 1
        route = endpoint.route
        route.requests += 1
        is_large = len(frame) > SMALL
        place: Key | None = None
        if served.is_cached and not (is_large or route.steps_for(connection.principal)):
            place = number, bytes(frame[pos:]), connection.listener
            known = cluster.answers.find(place)
            if known is not None:
                return _answer_again(cluster, connection, key, known, correlation_id)
        call = Call(connection, key, version, correlation_id, client_id, cluster.clock.now())
        connection.current = call
        if is_large and served.request is not ProduceRequest:
            cluster.turns.begin(_serve_large(cluster, connection, call, endpoint, frame, pos))
            return PARKED
        try:
            request, _ = endpoint.read(frame, pos)
        except DAMAGE as error:
            request, _ = read_again(served.request, frame, version, pos, error)
    except WireError as error:
        connection.malformed(error, frame)
        return NO_REPLY
    if not endpoint.is_plain or route.steps:
        return _serve_decoded(cluster, connection, call, endpoint, request, frame, place)
    if not served.is_logged:
        connection.is_at_work = True
    elif cluster.journal.is_on:
        call.request = request
    return handle(cluster, call, served, request)


def _endpoint(cluster: Cluster, connection: Connection, frame: Frame) -> Endpoint:
    """That of a request which is the first of its kind. Raises WireError if there is none."""
    header, _ = read_request_header(frame)
    key, version = header.api_key, header.api_version
    served, has_tags = SERVED.get(key), is_flexible(key, version)
    if served is not None and cluster.release.serves(key, version):
        endpoint = Endpoint(served, version, cluster.chain.route(key), has_tags=has_tags)
        cluster.endpoints[_HEAD.unpack_from(frame)[0]] = endpoint
        return endpoint
    if key == API_VERSIONS and key in cluster.release.advertised:
        return Endpoint(UNKNOWN_VERSION, 0, cluster.chain.route(key), has_tags=has_tags)
    connection.client_id = header.client_id
    if not connection.requests:
        cluster.tracker.met(connection, header.client_id)
    connection.requests += 1
    raise WireError(_not_served(cluster.release, key, version))


def _not_served(release: Release, key: int, version: int) -> str:
    """The message for an API or version that the release does not serve, with the release that
    does."""
    what = f"{SERVED[key].request.__name__} v{version}" if key in SERVED else f"API key {key}"
    other = nearest_serving(release.name, key, version) if key in SERVED else None
    hint = "" if other is None else f'; version="{other.name}" serves it'
    return f"{what} is not served{hint}"


def _answer_again(
    cluster: Cluster, connection: Connection, key: int, known: Encoded, correlation_id: int
) -> Sentinel:
    """Send an answer that is kept: the request is logged already, its client is not."""
    if key == API_VERSIONS:
        connection.software = known.software or connection.software
        cluster.tracker.met(connection, connection.client_id)
    elif key not in LEARNING:
        connection.is_at_work = True
    connection.send_frame(known.frame(correlation_id))
    return PARKED


def _serve_large(
    cluster: Cluster,
    connection: Connection,
    call: Call,
    endpoint: Endpoint,
    frame: Frame,
    pos: int,
) -> Slices[None]:
    """The same for a frame that may have so many items that decoding it takes many turns."""
    served = endpoint.served
    try:
        request = yield from read_in_slices(served.request, frame, call.version, pos)
    except WireError as error:
        connection.malformed(error, frame)
        return
    if served.is_logged:
        api = served.request.__name__.removesuffix("Request")
        cluster.journal.add("large request", client=connection.name, api=api)
    outcome = _serve_decoded(cluster, connection, call, endpoint, request, frame, is_logged=False)
    if outcome is not PARKED:
        call.answer(outcome if isinstance(outcome, Response) else None)


def _serve_decoded(
    cluster: Cluster,
    connection: Connection,
    call: Call,
    endpoint: Endpoint,
    request: Request,
    frame: Frame,
    place: Key | None = None,
    *,
    is_logged: bool = True,
) -> Response | Sentinel:
    """`place`: where its answer is kept."""
    served, steps = endpoint.served, endpoint.route.steps
    if call.api_key == API_VERSIONS:
        note_software(call, request)
        cluster.tracker.met(connection, call.client_id)
    if not served.is_logged:
        connection.is_at_work = True
    elif is_logged and cluster.journal.is_on:
        call.request = request
    if steps and (steps := endpoint.route.steps_for(connection.principal)):
        at_the_end = partial(handle, cluster, call, served)
        call.frame = frame
        call.passage = InterceptedCall(steps, call, request, at_the_end)
        call.passage.go_on()
        return PARKED
    if place is None:
        return handle(cluster, call, served, request)
    return _serve_kept(cluster, call, served, request, place)


def handle(
    cluster: Cluster, call: Call, served: Served, request: Request, kept: KeepAnswer | None = None
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
    kept: KeepAnswer | None,
) -> Slices[None]:
    """Go on with a handler after its first slice, and answer with what it returns; `kept` is called
    with its encoding."""
    yield waits
    try:
        outcome = yield from slices
        if isinstance(outcome, Response):
            body = yield from call.prepare(outcome)
            if kept is not None:
                kept(outcome, body)
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


def _serve_kept(
    cluster: Cluster, call: Call, served: Served, request: Request, place: Key
) -> Response | Sentinel:
    """Answer, and keep the encoded answer if nothing has changed meanwhile."""
    generation = cluster.answers.generation
    software = None
    if isinstance(request, ApiVersionsRequest):
        software = software_of(request, call.version)

    def kept(response: Response, body: list[Buffer]) -> None:
        if cluster.answers.generation == generation and not finder(type(response))(response):
            has_tags = call.api_key != API_VERSIONS and is_flexible(call.api_key, call.version)
            answer = Encoded(body, software, has_tags=has_tags)
            if len(cluster.nodes) > 1:
                named = place_of_controller(response, call.version)
                if named is not None:
                    choose = cluster.any_broker
                    answer = OfAnyController(body, has_tags=has_tags, place=named, choose=choose)
            cluster.answers.keep(place, answer)

    response = handle(cluster, call, served, request, kept)
    if isinstance(response, Response):
        call.prepared = response, response.parts(call.version)
        kept(*call.prepared)
    return response
