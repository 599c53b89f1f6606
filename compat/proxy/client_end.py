"""A client's end of a connection: its socket, read and written as a stream, with the faults of the
network between (net/network/)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from ...emulator.net.protocol import reset_when_closed

if TYPE_CHECKING:
    from ...emulator.net.network.link import Link
    from ...emulator.net.network.network import Network

LIMIT = 1 << 20
"""About half of what is read ahead of a connection."""
_BUFFER_BYTES = 1 << 16


class ClientEnd(asyncio.BufferedProtocol):
    """The protocol of a client's socket. `reader` has what it sends; it is written to as an
    asyncio.StreamWriter is. `begin` is called when it is connected."""

    def __init__(
        self,
        node_id: int,
        network: Network,
        ends: dict[ClientEnd, None],
        begin: Callable[[ClientEnd], None],
    ) -> None:
        self.node_id = node_id
        self.reader = asyncio.StreamReader(LIMIT)
        self.who: str | None = None
        """The client's id, once it has said it."""
        self.name = ""
        self.is_reading = True
        self.is_over: Callable[[], None] | None = None
        """Called if it ends for the proxy while the client's socket stays open."""
        self._network = network
        self._ends = ends
        self._begin = begin
        self._buffer = bytearray(_BUFFER_BYTES)
        self._may_write = asyncio.Event()
        self._may_write.set()
        self._is_lost = False
        self._transport: asyncio.Transport

    # What the event loop calls, or a link in its place

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are not subclasses of asyncio's, but have the same methods.
        self._transport = cast(asyncio.Transport, transport)
        self.reader.set_transport(cast(asyncio.Transport, self))  # which may change
        self._ends[self] = None
        self._begin(self)
        self._network.connected(self)

    def get_buffer(self, sizehint: int) -> bytearray:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        self.take(bytes(memoryview(self._buffer)[:nbytes]))

    def eof_received(self) -> bool:
        self.reader.feed_eof()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        self._ends.pop(self, None)
        self._is_lost = True
        self._may_write.set()
        self.reader.feed_eof()

    def pause_writing(self) -> None:
        self._may_write.clear()

    def resume_writing(self) -> None:
        self._may_write.set()

    # What the reader calls

    def pause_reading(self) -> None:
        self.is_reading = False
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        self.is_reading = True
        self._transport.resume_reading()

    # What a link calls

    @property
    def port(self) -> int:
        """The client's port."""
        return int(self.address("peername")[1])

    @property
    def is_blocked(self) -> bool:
        return not self._may_write.is_set()

    @property
    def socket_transport(self) -> asyncio.Transport:
        return self._transport

    def use_transport(self, transport: asyncio.Transport | Link) -> None:
        """Send by another transport from now on: one that stands before the socket's, or that."""
        self._transport = cast(asyncio.Transport, transport)

    def take(self, data: bytes) -> bytes:
        """Bytes that were received. There is room for them: the reader says when it has enough."""
        if not self._is_lost:
            self.reader.feed_data(data)
        return b""

    def lost(self) -> None:
        """For the proxy it has ended; the client's socket stays open."""
        self._is_lost = True
        self._may_write.set()
        self.reader.feed_eof()
        if self.is_over is not None:
            self.is_over()

    def reset_when_closed(self) -> None:
        """When it is closed, the client's socket is reset, and what is on its way is lost."""
        reset_when_closed(self._transport)

    # What the proxy calls

    def address(self, which: str) -> tuple[str, int]:
        """The client's ("peername"), or where it has connected to ("sockname")."""
        host, port = self._transport.get_extra_info(which)[:2]
        return host, port

    def write(self, data: bytes) -> None:
        """Send this. Once the connection has ended nothing is."""
        if not self._is_lost:
            self._transport.write(data)

    async def drain(self) -> None:
        """Wait until there is room for more. Raises ConnectionResetError if it has ended."""
        await self._may_write.wait()
        if self._is_lost:
            raise ConnectionResetError("the client has left")

    def close(self) -> None:
        """Close it, after what was written before is sent."""
        if not self._is_lost:
            self._transport.close()

    def abort(self) -> None:
        self._transport.abort()
