"""One client's connection to the proxy, and the one from there to the broker.

Rules:
- Frames go on as they came, in both directions, as long as nobody changes them. Unknown APIs and
  versions do, too, and what cannot be decoded.
- Answers that have addresses of brokers are decoded, and encoded again with those of the proxy.
- While there are steps in the chain, requests pass them one by one, decoded, as in an emulator
  (base/chain.py): the next one waits for the end of the one before. What the steps have changed is
  encoded again; an unknown request does not pass them.
- A request that gets no answer while a later one does had none to get (acks=0).
- When one of the two connections ends, the other one is closed.

The addresses of brokers in answers.

Clients learn them from Metadata, FindCoordinator and DescribeCluster, and from answers to requests
that went to the wrong broker (KIP-951: Produce, Fetch, ShareFetch, ShareAcknowledge). Left out is
DescribeQuorum, which names controllers: no client connects to those it finds there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from ...emulator.base.call import (
    ANONYMOUS,
    PARKED,
    UNKNOWN_SOFTWARE,
    Call,
    ClientSoftware,
    Ends,
    Sentinel,
)
from ...emulator.base.call import NO_REPLY as NOTHING_SENT
from ...emulator.base.chain import InterceptedCall, Step
from ...emulator.base.logger import log
from ...emulator.control.traffic.exchange import (
    CLOSED,
    MALFORMED,
    NO_REPLY,
    Address,
    Exchange,
    Peer,
)
from ...wire import Buffer, Error, Request, Response, WireError
from ...wire.api import API_MODULES, request_class, response_class
from ...wire.api.describe_cluster import DescribeClusterResponse
from ...wire.api.fetch import FetchRequest, FetchResponse
from ...wire.api.find_coordinator import FindCoordinatorResponse
from ...wire.api.metadata import MetadataResponse
from ...wire.api.produce import ProduceRequest, ProduceResponse
from ...wire.api.share_acknowledge import ShareAcknowledgeResponse
from ...wire.api.share_fetch import ShareFetchResponse
from ...wire.frames import SIZE
from ...wire.headers import (
    API_VERSIONS,
    RequestHeader,
    read_request_header,
    read_response_header,
)
from .client_end import ClientEnd
from .upstream import UpstreamCluster

_WITH_ADDRESSES: tuple[type[Response], ...] = (
    DescribeClusterResponse,
    FetchResponse,
    FindCoordinatorResponse,
    MetadataResponse,
    ProduceResponse,
    ShareAcknowledgeResponse,
    ShareFetchResponse,
)
APIS = frozenset(each.api_key for each in _WITH_ADDRESSES)
"""Whose answers may have addresses."""
_NODE = ("node_id", "broker_id")


def addressed(response: Response) -> Iterator[tuple[int, Any]]:
    """Each node's id in an answer, and the struct that has its `host` and `port`. A coordinator
    that was not found is none."""
    if (own := _node_field(type(response))) is not None and response.host:  # type: ignore[attr-defined]
        yield getattr(response, own), response
    for name, node_field in _lists(type(response)):
        for each in getattr(response, name) or ():
            if each.host and each.port > 0:
                yield getattr(each, node_field), each


@cache
def _lists(cls: type[Response]) -> list[tuple[str, str]]:
    """The lists of nodes in a response, and the field of a node that has its id."""
    found = []
    for field, kind in cls.fields():
        if kind.is_list and kind.struct is not None:
            node_field = _node_field(kind.struct)
            if node_field is not None:
                found.append((field.name, node_field))
    return found


@cache
def _node_field(cls: Any) -> str | None:
    names = {field.name for field, _ in cls.fields()}
    if not {"host", "port"} <= names:
        return None
    return next((name for name in _NODE if name in names), None)


_FRAME_MAX = 1 << 30
_OLDEST = 0
_SOFTWARE_SINCE = 3
Local = Callable[[int, str, int], Address]
"""From a broker's id and address to that of the proxy in its place."""


@dataclass(slots=True)
class _Pending:
    header: RequestHeader
    frame: bytes
    body: int
    """Where the body begins."""
    exchange: Exchange | None
    request: Request | None = None
    encoded: bytes = b""
    call: Call | None = None
    answer: Response | None = None
    answer_frame: bytes = b""
    answer_encoded: bytes = b""


class ProxiedConnection:
    """A client's connection, as the steps and the timeline see it."""

    listener = "PLAINTEXT"
    principal = ANONYMOUS

    def __init__(
        self,
        behind: UpstreamCluster,
        peer: Peer,
        client: ClientEnd,
        broker: asyncio.StreamWriter,
        local: Local,
    ) -> None:
        self.name = ""
        self.software: ClientSoftware = UNKNOWN_SOFTWARE
        self.is_open = True
        self.is_at_work = False
        self.peer = peer
        self._behind = behind
        self._client = client
        self._broker = broker
        self._local = local
        self._pending: dict[int, _Pending] = {}
        # The request that is passing the steps.
        self._passing: _Pending | None = None
        self._has_passed = asyncio.Event()
        self._muted_until = 0.0
        client.is_over = self.close

    def __repr__(self) -> str:
        return f"<{self.peer}>"

    @property
    def client_host(self) -> str:
        """The address of the client, without its port."""
        return self.peer.client.host

    @property
    def node_id(self) -> int:
        """The broker that is asked, -1 if that is not known."""
        return self.peer.node_id

    def ends(self) -> Ends | None:
        return self.peer.client, self.peer.broker

    async def run(self, broker: asyncio.StreamReader) -> None:
        """Pass on what comes, until one of the two connections ends."""
        ways = [
            asyncio.create_task(self._pass_requests(self._client.reader)),
            asyncio.create_task(self._pass_answers(broker)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.close()
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)

    async def _pass_requests(self, client: asyncio.StreamReader) -> None:
        frame = await self._read(client)
        while frame is not None and self.is_open:
            await self._unmuted()
            if not self._behind.chain:
                await self._take(self._take_request, frame)
                frame = await self._read(client)
                continue
            # Read on meanwhile: a step may hold the request, and the client may go.
            taken = asyncio.create_task(self._take(self._take_request, frame))
            following = asyncio.create_task(self._read(client))
            try:
                await asyncio.wait((taken, following), return_when=asyncio.FIRST_COMPLETED)
                if following.done() and following.result() is None:
                    return
                await taken
                frame = await following
            finally:
                taken.cancel()
                following.cancel()

    async def _pass_answers(self, broker: asyncio.StreamReader) -> None:
        while self.is_open and (frame := await self._read(broker)) is not None:
            await self._take(self._take_answer, frame)

    async def _read(self, reader: asyncio.StreamReader) -> bytes | None:
        """The next frame; None at the end of the connection."""
        try:
            size = int.from_bytes(await reader.readexactly(4), "big", signed=True)
            if 0 <= size <= _FRAME_MAX:
                return await reader.readexactly(size)
        except (OSError, EOFError):
            return None
        log.info("closing %s: a frame of %d bytes", self, size)
        return None

    async def _take(self, take: Callable[[bytes], Awaitable[None]], frame: bytes) -> None:
        """Do something with a frame; what fails closes the connection."""
        try:
            await take(frame)
        except OSError as error:
            log.info("closing %s: %s", self, error)
            self.close()
        except (WireError, ValueError):
            log.exception("closing %s", self)
            self.close()

    # Requests

    async def _take_request(self, frame: bytes) -> None:
        exchange = self._behind.begin(self.peer, frame)
        try:
            header, body = read_request_header(frame)
        except WireError:
            if exchange is not None:
                self._behind.traffic.end(exchange, MALFORMED)
            await self._send(self._broker, frame)
            return
        pending = _Pending(header, frame, body, exchange, _decoded(header, frame, body))
        self._meet(pending)
        if pending.request is not None:
            route = self._behind.chain.route(header.api_key)
            route.requests += 1
            if route.steps:
                await self._pass_steps(pending, pending.request, route.steps)
                return
        self._pending[header.correlation_id] = pending
        await self._send(self._broker, frame)

    def _meet(self, pending: _Pending) -> None:
        header, request = pending.header, pending.request
        if header.api_key == API_VERSIONS and header.api_version >= _SOFTWARE_SINCE:
            name = getattr(request, "client_software_name", "")
            if name:
                version = getattr(request, "client_software_version", "")
                self.software = self.peer.software = ClientSoftware(name, version)
        self._behind.tracker.met(self, header.client_id)
        self._client.who, self._client.name = header.client_id, self.name

    async def _pass_steps(self, pending: _Pending, request: Request, steps: Sequence[Step]) -> None:
        """Let a request pass the steps, and wait for its end."""
        header = pending.header
        pending.encoded = request.encode(header.api_version)
        call = Call(self, *header[:3], header.client_id, self._behind.clock.now())
        call.frame = pending.frame
        call.notes = None if pending.exchange is None else pending.exchange.notes
        pending.call = call
        self._passing = pending
        self._has_passed.clear()

        def forward(instead: Request | None = None) -> Sentinel:
            return self._forward(pending, instead or request)

        call.passage = InterceptedCall(steps, call, request, forward)
        call.passage.go_on()
        await self._has_passed.wait()

    def _forward(self, pending: _Pending, request: Request) -> Sentinel:
        """At the end of the chain: the broker is asked."""
        body = request.encode(pending.header.api_version)
        changed = body != pending.encoded
        frame = pending.frame[: pending.body] + body if changed else pending.frame
        self._pending[pending.header.correlation_id] = pending
        self._broker.write(len(frame).to_bytes(4, "big") + frame)
        if isinstance(request, ProduceRequest) and not request.acks:
            return NOTHING_SENT
        return PARKED

    # Answers

    async def _take_answer(self, frame: bytes) -> None:
        pending = self._answered(int.from_bytes(frame[:4], "big", signed=True))
        if pending is None:  # to a request that nobody could read
            await self._send(self._client, frame)
            return
        response = _answer(pending, frame)
        if response is not None:
            self._behind.topics.learn(response)
            if isinstance(response, FetchResponse) and isinstance(pending.request, FetchRequest):
                sessions = self._behind.brokers[self.node_id].fetch_sessions
                sessions.learn(pending.request, response)
            if pending.header.api_key in APIS and self._put_addresses(response):
                frame = _encoded(frame, pending, response)
        if pending.call is None:
            self._tell(pending, response)
            self._end(pending, frame)
            await self._send(self._client, frame)
        elif response is None:
            assert pending.call.passage is not None
            pending.call.passage.lost()
            self._finish(pending, frame)
        else:
            pending.answer, pending.answer_frame = response, frame
            pending.answer_encoded = response.encode(_version(pending, frame))
            pending.call.answer(response)

    def _answered(self, correlation_id: int) -> _Pending | None:
        """The request that is answered; those before it that are not had no answer to get."""
        if correlation_id not in self._pending:
            return None
        while True:
            first = next(iter(self._pending))
            pending = self._pending.pop(first)
            if first == correlation_id:
                return pending
            if pending.call is None and pending.exchange is not None:
                self._behind.traffic.end(pending.exchange, NO_REPLY)

    def _put_addresses(self, response: Response) -> bool:
        """Put the proxy's addresses into an answer; whether there were any."""
        has_any = False
        for node_id, place in addressed(response):
            place.host, place.port = self._local(node_id, place.host, place.port)
            has_any = True
        return has_any

    def answer(self, call: Call, response: Response | None) -> None:
        """Called at the end of the steps: send this to the client."""
        pending = self._passing
        if pending is None or pending.call is not call:
            return
        if response is None:
            self._pending.pop(pending.header.correlation_id, None)
            self._finish(pending, None)
            return
        version = call.version
        if response is pending.answer:
            version = _version(pending, pending.answer_frame)
            if response.encode(version) == pending.answer_encoded:
                self._finish(pending, pending.answer_frame)
                return
        call.version = version
        self._tell(pending, response)
        sent = cast("list[Buffer]", call.encode(response))
        self._finish(pending, b"".join(sent)[SIZE.size :])

    def _finish(self, pending: _Pending, frame: bytes | None) -> None:
        self._passing = None
        self._end(pending, frame)
        if frame is not None and self.is_open:
            self._write(pending, len(frame).to_bytes(4, "big") + frame)
        self._has_passed.set()

    def _write(self, pending: _Pending, sent: bytes) -> None:
        """Send the frame of an answer, or what steps make of it. If one of them cuts something off,
        the connection is closed."""
        is_cut = False
        passage = pending.call.passage if pending.call is not None else None
        for change in passage.frames if passage is not None else ():
            before, sent = len(sent), change(sent)
            is_cut = is_cut or len(sent) < before
        self._client.write(sent)
        if is_cut:
            self.close()

    def _end(self, pending: _Pending, frame: bytes | None) -> None:
        if pending.exchange is None:
            return
        if frame is None:
            self._behind.traffic.end(pending.exchange, NO_REPLY if self.is_open else CLOSED)
        else:
            self._behind.traffic.answered(pending.exchange, [frame])

    def _tell(self, pending: _Pending, response: Response | None) -> None:
        if pending.request is None or response is None or not self._behind.journal.is_on:
            return
        header = pending.header
        call = pending.call or Call(self, *header[:3], header.client_id, self._behind.clock.now())
        self._behind.tracker.answered(call, pending.request, response)

    def mute(self, milliseconds: int) -> None:
        """Pass nothing more to the broker before so much time has passed."""
        now = asyncio.get_running_loop().time()
        self._muted_until = max(self._muted_until, now + milliseconds / 1000)

    async def _unmuted(self) -> None:
        loop = asyncio.get_running_loop()
        while (left := self._muted_until - loop.time()) > 0:
            await asyncio.sleep(left)

    # The end

    async def _send(self, writer: ClientEnd | asyncio.StreamWriter, frame: bytes) -> None:
        writer.write(len(frame).to_bytes(4, "big") + frame)
        await writer.drain()

    def close(self) -> None:
        """Close both connections. What waits is not answered."""
        if not self.is_open:
            return
        self.is_open = False
        passing, self._passing = self._passing, None
        if passing is not None and passing.call is not None and passing.call.passage is not None:
            passing.call.passage.lost()
            if passing.exchange is not None:
                self._behind.traffic.end(passing.exchange, CLOSED)
        for pending in self._pending.values():
            if pending is not passing and pending.exchange is not None:
                self._behind.traffic.end(pending.exchange, CLOSED)
        self._has_passed.set()
        for writer in (self._client, self._broker):
            with suppress(OSError, RuntimeError):
                writer.close()
        if self.name:
            self._behind.tracker.closed(self, is_at_work=self.is_at_work)


def _decoded(header: RequestHeader, frame: bytes, body: int) -> Any:
    """A request; None if it cannot be decoded."""
    if header.api_key not in API_MODULES:
        return None
    try:
        return request_class(header.api_key).decode(frame, header.api_version, body)
    except WireError:
        return None


def _version(pending: _Pending, frame: Buffer) -> int:
    """That of an answer: 0 if a version of ApiVersions is refused (KIP-511)."""
    if pending.header.api_key != API_VERSIONS:
        return pending.header.api_version
    is_refused = int.from_bytes(frame[4:6], "big") == Error.UNSUPPORTED_VERSION
    return _OLDEST if is_refused else pending.header.api_version


def _answer(pending: _Pending, frame: bytes) -> Response | None:
    if pending.header.api_key not in API_MODULES:
        return None
    version = _version(pending, frame)
    try:
        _, pos = read_response_header(frame, pending.header.api_key, version)
        return response_class(pending.header.api_key).decode(frame, version, pos)
    except WireError:
        return None


def _encoded(frame: bytes, pending: _Pending, response: Response) -> bytes:
    """The frame of an answer that was changed, with the header that it had."""
    version = _version(pending, frame)
    _, pos = read_response_header(frame, pending.header.api_key, version)
    return frame[:pos] + response.encode(version)
