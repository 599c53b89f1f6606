"""One client connection, without its socket: bytes in, buffers out, one request at a time.

Requests are served one after another, and answered in their order: a parked fetch delays
everything that was sent after it, as on a real broker. Nothing is served while an answer waits to
be sent. What cannot be served yet stays where it was received (wire/frames.py), and once that is
full nothing more is read.

A connection with more requests than fit into a turn takes turns with the others (base/turns.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, cast

from ...wire import Buffer, Response, WireError
from ...wire.frames import JOINED, SMALL, Frame, Frames, Part, pieces
from ...wire.frames import frame as framed
from ..base.call import ANONYMOUS, PARKED, UNKNOWN_SOFTWARE, Call, Ends, Sentinel
from ..base.logger import log
from ..base.real_time import perf_counter
from ..base.turns import Slices
from ..security.listeners import PLAINTEXT
from .logging_in import begin_login, log_in
from .serving import serve

if TYPE_CHECKING:
    from ..cluster import Cluster


_PIECE = 1 << 20
UNSENT_BYTES = 16 * 1024
"""With more than this in its transport, a connection is given no more to send."""


class Transport(Protocol):
    """The half of a connection that knows the socket."""

    def send(self, parts: list[Part]) -> None:
        """Send a response. Until all of it is on its way, the connection is `paused`."""

    def read_on(self) -> None:
        """Requests were served: there may be room for more."""

    def ends(self) -> Ends | None:
        """The addresses of both ends; None without a socket."""

    def close(self) -> None: ...


class _Gone:
    """The transport of a connection whose socket is closed."""

    def send(self, parts: list[Part]) -> None:
        """Drop them."""

    def read_on(self) -> None:
        """Do nothing: nothing more is read."""

    def ends(self) -> Ends | None:
        return None

    def close(self) -> None:
        """Do nothing: it is closed."""


_GONE = _Gone()


class Connection:
    __slots__ = (
        "__weakref__",
        "_transport",
        "_unsent",
        "_unsent_bytes",
        "_working",
        "client_host",
        "client_id",
        "cluster",
        "current",
        "frames",
        "is_at_work",
        "is_open",
        "is_queued",
        "is_reading",
        "listener",
        "login",
        "muted",
        "name",
        "node_id",
        "paused",
        "principal",
        "requests",
        "served_bytes",
        "software",
    )

    def __init__(
        self,
        cluster: Cluster,
        transport: Transport,
        client_host: str,
        node_id: int,
        listener: str = PLAINTEXT,
    ) -> None:
        self.cluster = cluster
        self.client_host = client_host
        self.client_id = ""
        """As in its last request."""
        self.name = ""
        self.requests = 0
        self.node_id = node_id
        self.listener = listener
        self.principal = ANONYMOUS
        self.software = UNKNOWN_SOFTWARE
        self.is_at_work = False
        """Whether it has done more than to learn where the brokers are."""
        self.is_open = True
        self.paused = False
        """Whether an answer waits to be sent."""
        self.is_reading = True
        """Whether bytes are read; the transport stops when there is no room for them."""
        self.muted = 0
        """While requests wait because the client was throttled: how often that was."""
        self.frames = Frames(cluster.max_request_bytes)
        self.served_bytes = 0
        """The size of the request that is being served, if it is a large one."""
        self.login = begin_login(self)
        """Of a listener where clients log in; None elsewhere."""
        # The request that is being answered, or is parked.
        self.current: Call | None = None
        self._transport = transport
        self._working = False
        # Answers that are sent with the next one: a write for each would wake the client each time.
        self._unsent: list[Part] = []
        self._unsent_bytes = 0
        self.is_queued = False

    def __repr__(self) -> str:
        return f"<connection from {self.client_host} to broker {self.node_id}>"

    @property
    def has_token(self) -> bool:
        return self.login is not None and self.login.is_token

    def feed(self, data: Buffer) -> None:
        """Receive all of `data`, and serve what can be served now, for owners without a socket."""
        rest = memoryview(data)
        while rest and self.is_open:
            if self.frames.is_full:
                raise BufferError("no room for more until a request was answered")
            rest = self.frames.put(rest)
            self.work()

    def work(self) -> None:
        """Serve requests until one parks, the client reads too slowly, the turn is over, or none is
        left."""
        if self._working or self.is_queued:
            return
        self._working = True
        turns, frames = self.cluster.turns, self.frames
        begin = perf_counter()
        try:
            while frames.held and self.current is None and not (self.paused or self.muted):
                if turns.is_over:
                    self.is_queued = True
                    turns.add_first(self._backlog())
                    return
                try:  # as _take does, with one call less
                    frame = frames.take()
                except WireError as error:
                    self.malformed(error)
                    break
                if frame is None:
                    break
                self._serve(frame)
                now = perf_counter()
                turns.left -= now - begin
                if turns.left <= 0:
                    turns.end()
                begin = now
        finally:
            self._working = False
            if self._unsent:
                self._flush()
        if self.served_bytes or not self.is_reading:
            self._may_read_on()

    def _backlog(self) -> Slices[None]:
        """Serve requests, one in each slice, until none is left or can be served."""
        try:
            frame = self._next()
            while frame is not None and self.is_open:
                self._serve(frame)
                frame = self._next()
                if frame is not None:  # after the last one it is over at once
                    yield
        finally:
            self.is_queued = False
        self._may_read_on()

    def _may_read_on(self) -> None:
        if self.current is None:
            self.served_bytes = 0
        self._transport.read_on()

    def _next(self) -> Frame | None:
        """The next request that can be served now."""
        if self.current is not None or self.paused or self.muted:
            return None
        return self._take()

    def _take(self) -> Frame | None:
        """The next request, if one has arrived; none once the connection is closed."""
        try:
            return self.frames.take()
        except WireError as error:
            self.malformed(error)
            return None

    def ends(self) -> Ends | None:
        """The addresses of both ends; None without a socket."""
        return self._transport.ends()

    def malformed(self, error: WireError, frame: Frame | None = None) -> None:
        """The received bytes cannot be served: close the connection, for the protocol has no
        answer to that."""
        log.info("closing %s: %s", self, error)
        name = self.name or self.client_id or "a client"
        self.cluster.journal.add("malformed", client=name, reason=str(error))
        if frame is not None:
            for step in self.cluster.chain:
                step.malformed(self, frame, error, self.cluster.clock.now())
        self.close()

    def answer(self, call: Call, response: Response | None) -> None:
        """Send the answer of a parked call, then serve the frames that are queued after it."""
        if self.current is not call:
            return
        self.current = None
        if response is not None:
            changes = () if call.passage is None else call.passage.frames
            if changes:
                self._send_changed(call, response, changes)
            else:
                self._send(call, response)
        self.work()

    def mute(self, milliseconds: int) -> None:
        """Serve nothing more before so much real time has passed; what is answered now still is."""
        self.muted += 1
        self.cluster.after(milliseconds, self._unmute)

    def _unmute(self) -> None:
        self.muted -= 1
        self.work()

    def close(self) -> None:
        """Close the connection. A parked call is not answered."""
        if self.is_open:
            if self._unsent:
                self._flush()
            transport = self._transport
            self.lost()
            transport.close()

    def lost(self) -> None:
        """The socket is closed: drop what was received, and end a parked call."""
        self.is_open = False
        self.login = None
        # Protocol and connection refer to each other; else only a collection would free them.
        self._transport = _GONE
        self.frames.close()
        if self.name:
            self.cluster.tracker.closed(self, is_at_work=self.is_at_work)
        self.cluster.share_partition_managers.lost(self.node_id, self)
        call, self.current = self.current, None
        if call is None:
            return
        if call.on_lost is not None:
            call.on_lost()
        if call.passage is not None:
            call.passage.lost()

    def _serve(self, frame: Frame) -> None:
        if self.login is not None and log_in(self, self.login, frame):
            return
        if len(frame) > SMALL:
            self.served_bytes = len(frame)
        outcome = serve(self.cluster, self, frame)
        call = self.current
        # No call: the connection was closed, or the handler has answered through the call itself.
        if call is not None and outcome is not PARKED:
            self.current = None
            if not isinstance(outcome, Sentinel):
                self._send(call, outcome)
        self.cluster.settle()

    def _send(self, call: Call, response: Response) -> None:
        if not self.is_open:
            return
        if call.request is not None:
            self.cluster.tracker.answered(call, call.request, response)
        try:
            parts = call.encode(response)
        except WireError:
            log.exception("closing %s: answer could not be written", self)
            self.close()
            return
        self.send_frame(parts)

    def send_parts(self, parts: list[Buffer]) -> None:
        """Send an answer that no call is for."""
        self.send_frame(framed(parts))

    def send_frame(self, parts: list[Part]) -> None:
        """Send the frame of an answer: now, or with that of the request after it."""
        if self._unsent or (self._working and self.frames.held):
            self._unsent += parts
            self._unsent_bytes += sum(map(len, parts))
            if self._unsent_bytes > UNSENT_BYTES:
                self._flush()
        else:
            self._transport.send(parts)

    def _flush(self) -> None:
        parts, self._unsent, self._unsent_bytes = self._unsent, [], 0
        if len(parts) > 1 and sum(map(len, parts)) <= JOINED:
            parts = [b"".join(cast("list[Buffer]", parts))]
        self._transport.send(parts)

    def _send_changed(
        self, call: Call, response: Response, changes: Sequence[Callable[[bytes], bytes]]
    ) -> None:
        """Send what these make of the frame of an answer. If one of them cuts something off, close
        the connection: nobody could tell where the next answer begins."""
        if not self.is_open:
            return
        if call.request is not None:
            self.cluster.tracker.answered(call, call.request, response)
        try:
            sent = b"".join(pieces(call.encode(response), lambda: _PIECE))
        except (WireError, OSError):
            log.exception("closing %s: answer could not be written", self)
            self.close()
            return
        is_cut = False
        for change in changes:
            before, sent = len(sent), change(sent)
            is_cut = is_cut or len(sent) < before
        if sent:
            self.send_frame([sent])
        if is_cut:
            self.close()
