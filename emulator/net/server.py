"""The only asyncio: sockets, and one timer at the next deadline.

Cluster and Connection decide everything, and use neither. Bytes are received straight into the
buffer that `Frames` offers, and answers are given to the transport as they are, mapped segments
included.

A sendfile from segment to socket was tried and is no faster than the mapping. A stock consumer of
240 MiB over loopback, in 1 and 12 partitions, medians of 5 alternating runs: 0.09-0.13 s of the
broker's CPU with mappings, 0.11-0.15 s with sendfile, at the same throughput, which is the
client's limit; 0.10-0.24 s copied by pread, which is slower with 12 partitions. Also sendfile does
not work under TLS, and asyncio and uvloop do not allow waiting for the socket of a transport.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from ...wire import Buffer, WireError
from ...wire.frames import Frames
from ..base.logger import log
from ..base.timers import Timers
from .connection import Connection

if TYPE_CHECKING:
    from ..cluster import Cluster

# Requests sent ahead while an earlier one is parked are kept up to this many bytes; then nothing
# more is read until they are served.
_READ_AHEAD = 8 * 1024 * 1024


class ClientProtocol(asyncio.BufferedProtocol):
    """One accepted connection."""

    def __init__(self, server: Server, node_id: int) -> None:
        self._server = server
        self._node_id = node_id
        self._frames = Frames(server.cluster.max_request_bytes)
        self._transport: asyncio.Transport
        self._joins_lines = False
        self._is_reading = True
        # Sweeps of the server since this connection last received anything.
        self.silent_for = 0
        self.connection: Connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are not subclasses of asyncio's, but have the same methods.
        self._transport = cast(asyncio.Transport, transport)
        # Before 3.12 asyncio's own writelines copies everything into one string first.
        self._joins_lines = sys.version_info < (3, 12) and type(transport).__module__.startswith(
            "asyncio"
        )
        peer = self._transport.get_extra_info("peername")
        self.connection = Connection(
            self._server.cluster, self, peer[0] if peer else "", self._node_id
        )
        self._server.protocols.add(self)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._frames.buffer()

    def buffer_updated(self, nbytes: int) -> None:
        connection = self.connection
        self.silent_for = 0
        try:
            frames = self._frames.received(nbytes)
        except WireError as error:
            log.info("closing %s: %s", connection, error)
            connection.close()
            return
        if frames:
            connection.receive(frames)
            if connection.current is not None and connection.waiting_bytes > _READ_AHEAD:
                self._is_reading = False
                self._transport.pause_reading()

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.protocols.discard(self)
        self.connection.lost()
        self._frames.close()

    def pause_writing(self) -> None:
        self.connection.paused = True

    def resume_writing(self) -> None:
        self.connection.paused = False
        self.connection.work()

    def send(self, buffers: list[Buffer]) -> None:
        """Called by the connection with one framed response."""
        if len(buffers) == 1:
            self._transport.write(buffers[0])
        elif self._joins_lines:
            for buffer in buffers:
                self._transport.write(buffer)
        else:
            self._transport.writelines(buffers)
        if not self._is_reading and self.connection.waiting_bytes <= _READ_AHEAD:
            self._is_reading = True
            self._transport.resume_reading()

    @property
    def descriptor(self) -> int:
        """That of the connection's socket; -1 once it is closed."""
        sock = self._transport.get_extra_info("socket")
        return -1 if sock is None else int(sock.fileno())

    def close(self) -> None:
        """Called by the connection. What was written before is still sent."""
        self._transport.close()

    def abort(self) -> None:
        """Close without waiting for a client that does not read."""
        self._transport.abort()


class Server:
    """Listening sockets and timer of one cluster, on one event loop."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.protocols: set[ClientProtocol] = set()
        self._loop = asyncio.get_running_loop()
        self._servers: list[asyncio.Server] = []
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_at = 0
        self._timers: Timers = cluster.timers
        self._timers.on_earlier = self._arm
        self._flusher = cluster.log_manager.flusher
        self._flusher.wake = self._collect_flushes
        self._cleaner = cluster.log_manager.cleaner
        self._cleaner.wake = self._collect_compactions
        self._turns = cluster.turns
        self._turns.wake = self._turn_soon
        self._idle_ms = cluster.max_idle_ms
        self._sweep: asyncio.TimerHandle | None = None
        self._close_idle()

    async def listen(self, host: str, port: int, node_id: int) -> tuple[str, int]:
        """Accept connections for a broker; port 0 is any free one. Returns the address.

        Raises OSError when the address is not available.
        """
        server = await self._loop.create_server(
            lambda: ClientProtocol(self, node_id), sock=_bound(host, port), backlog=1024
        )
        self._servers.append(server)
        name = server.sockets[0].getsockname()
        return str(name[0]), int(name[1])

    def descriptors(self) -> list[int]:
        """Those of its sockets: where it listens, and its connections."""
        found = [protocol.descriptor for protocol in list(self.protocols)]
        found += [each.fileno() for server in self._servers for each in server.sockets]
        return [number for number in found if number >= 0]

    async def close(self) -> None:
        """Stop accepting, close every connection, cancel the timer."""
        self._timers.on_earlier = self._flusher.wake = self._cleaner.wake = None
        self._turns.close()
        self._turns.wake = None
        for handle in (self._alarm, self._sweep):
            if handle is not None:
                handle.cancel()
        for server in self._servers:
            server.close()
        for protocol in list(self.protocols):
            protocol.abort()
        while self.protocols:
            await asyncio.sleep(0)
        for server in self._servers:
            await server.wait_closed()

    def _close_idle(self) -> None:
        """Twice per `connections.max.idle.ms`: close connections that were silent for two of these
        periods."""
        for protocol in list(self.protocols):
            protocol.silent_for += 1
            if protocol.silent_for > 2 and protocol.connection.current is None:
                protocol.connection.close()
        if self._idle_ms > 0:
            self._sweep = self._loop.call_later(self._idle_ms / 2000, self._close_idle)

    def _arm(self) -> None:
        when = self._timers.next()
        if when is None or self.cluster.has_manual_clock:
            return
        if self._alarm is not None:
            if self._alarm_at <= when:
                return
            self._alarm.cancel()
        self._alarm_at = when
        # The clock counts whole milliseconds: one more, so as not to wake up just before the time.
        delay = max(0, when - self.cluster.clock.now() + 1) / 1000
        self._alarm = self._loop.call_later(delay, self._ring)

    def _collect_flushes(self) -> None:
        """Called in the flusher's thread."""
        self._loop.call_soon_threadsafe(self._flusher.collect)

    def _collect_compactions(self) -> None:
        """Called in the cleaner's thread."""
        self._loop.call_soon_threadsafe(self._cleaner.collect)

    def _turn_soon(self) -> None:
        self._loop.call_soon(self._turn)

    def _turn(self) -> None:
        self._turns.work()
        self.cluster.settle()

    def _ring(self) -> None:
        self._alarm = None
        self.cluster.settle()
        self._arm()


def _bound(host: str, port: int) -> socket.socket:
    """A bound socket. Unlike asyncio's own it never listens on two families at two ports."""
    try:
        family, kind, proto, _, address = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        raise OSError(error.errno, f"cannot listen on {host}:{port}: {error.strerror}") from None
    sock = socket.socket(family, kind, proto)
    try:
        if sys.platform != "win32":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            with suppress(OSError):
                sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        sock.bind(address)
    except OSError as error:
        sock.close()
        raise OSError(error.errno, f"cannot listen on {host}:{port}: {error.strerror}") from None
    return sock
