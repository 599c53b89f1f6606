"""One client connection, without its socket: frames in, buffers out, one request at a time.

Requests are served one after another, and answered in their order: a parked fetch delays
everything that was sent after it, as on a real broker.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Protocol

from ...wire import Buffer, Response, WireError
from ...wire.frames import frame as framed
from ..base.call import PARKED, Call, Sentinel
from ..base.client import ANONYMOUS, UNKNOWN_SOFTWARE
from ..base.logger import log
from .response_cache import Encoded
from .serving import serve

if TYPE_CHECKING:
    from ..cluster import Cluster


PLAINTEXT = "PLAINTEXT"
"""The name of the one listener that a broker has."""


class Transport(Protocol):
    """The half of a connection that knows the socket."""

    def send(self, buffers: list[Buffer]) -> None: ...

    def close(self) -> None: ...


class _Gone:
    """The transport of a connection whose socket is closed."""

    def send(self, buffers: list[Buffer]) -> None:
        """Drop the buffers."""

    def close(self) -> None:
        """Do nothing: it is closed."""


_GONE = _Gone()


class Connection:
    """What a broker knows of one client connection."""

    __slots__ = (
        "__weakref__",
        "_frames",
        "_transport",
        "_working",
        "client_host",
        "cluster",
        "current",
        "is_open",
        "listener",
        "node_id",
        "paused",
        "principal",
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
        self.node_id = node_id
        self.listener = listener
        self.principal = ANONYMOUS
        self.software = UNKNOWN_SOFTWARE
        self.is_open = True
        self.paused = False
        # The request that is being answered, or is parked.
        self.current: Call | None = None
        self._transport = transport
        self._frames: deque[bytearray] = deque()
        self._working = False

    def __repr__(self) -> str:
        return f"<connection from {self.client_host} to broker {self.node_id}>"

    @property
    def waiting_bytes(self) -> int:
        """Bytes of requests that wait for an earlier one to be answered."""
        return sum(map(len, self._frames))

    def receive(self, frames: list[bytearray]) -> None:
        """Queue whole frames, and serve those that can be served now."""
        self._frames.extend(frames)
        self.work()

    def work(self) -> None:
        """Serve queued frames until one parks, the client reads too slowly, or none is left."""
        if self._working:
            return
        self._working = True
        try:
            while self._frames and self.current is None and self.is_open and not self.paused:
                self._serve(self._frames.popleft())
        finally:
            self._working = False

    def answer(self, call: Call, response: Response | None) -> None:
        """Send the answer of a parked call, then serve the frames that are queued after it."""
        if self.current is not call:
            return
        self.current = None
        if response is not None:
            self._send(call, response)
        self.work()

    def close(self) -> None:
        """Close the connection. A parked call is not answered."""
        if self.is_open:
            transport = self._transport
            self.lost()
            transport.close()

    def lost(self) -> None:
        """The socket is closed: drop the queued frames, and end a parked call."""
        self.is_open = False
        # Protocol and connection refer to each other; else only a collection would free them.
        self._transport = _GONE
        self._frames.clear()
        call, self.current = self.current, None
        if call is None:
            return
        if call.on_lost is not None:
            call.on_lost()
        if call.passage is not None:
            call.passage.lost()

    def _serve(self, frame: bytearray) -> None:
        outcome = serve(self.cluster, self, frame)
        call = self.current
        # No call: the connection was closed, or the handler has answered through the call itself.
        if call is not None and outcome is not PARKED:
            self.current = None
            if not isinstance(outcome, Sentinel):
                self._send(call, outcome)
        self.cluster.settle()

    def _send(self, call: Call, response: Response | Encoded) -> None:
        if not self.is_open:
            return
        try:
            buffers = framed(call.encode(response))
        except WireError:
            log.exception("closing %s: answer could not be written", self)
            self.close()
            return
        self._transport.send(buffers)
