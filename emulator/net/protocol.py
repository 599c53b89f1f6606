"""One accepted connection: a socket's bytes in, and its answers out.

Sockets: bound, doubled, reset.
"""

from __future__ import annotations

import asyncio
import os
import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, cast

from ...wire import Buffer
from ...wire.frames import Part, pieces
from ..base.call import Ends
from ..base.logger import log
from ..base.turns import Slices
from ..handlers.registry import import_common
from .connection import UNSENT_BYTES, Connection

if TYPE_CHECKING:
    from .network.link import Link
    from .server import Server


_NO_LINGER = struct.pack("ii", 1, 0)


def reset_when_closed(transport: asyncio.BaseTransport) -> None:
    """When it is closed, the peer's socket is reset, and what is on its way is lost."""
    sock = transport.get_extra_info("socket")
    if sock is not None:
        with suppress(OSError):  # it is closed
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)


def copy_of(descriptor: int) -> socket.socket:
    return socket.socket(fileno=os.dup(descriptor))


def bound(host: str, port: int) -> socket.socket:
    """A bound socket. Unlike asyncio's own it never listens on two families at two ports. Raises
    OSError when the address is not available."""
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
        if port == 0 and sys.platform == "linux":  # elsewhere no port is kept (listener.py)
            return _bound_by_number(sock)
    except OSError as error:
        sock.close()
        raise OSError(error.errno, f"cannot listen on {host}:{port}: {error.strerror}") from None
    return sock


def _bound_by_number(chosen: socket.socket) -> socket.socket:
    """Another socket at the port that the system has chosen for this one: only one that was bound
    by its number keeps it while it does not listen."""
    sock = socket.socket(chosen.family, chosen.type, chosen.proto)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if chosen.family == socket.AF_INET6:
            with suppress(OSError):
                sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        sock.bind(chosen.getsockname())
    except BaseException:
        sock.close()
        raise
    chosen.close()
    return sock


MANY_CONNECTIONS = 32
"""From here on descriptors may become short."""


class _Gone(asyncio.Transport):
    """In the place of a transport whose connection has ended."""

    def close(self) -> None:
        """It is closed."""

    abort = pause_reading = resume_reading = close


class ClientProtocol(asyncio.BufferedProtocol):
    """The protocol of one connection. `taken` is what it has of the server's room."""

    def __init__(self, server: Server, node_id: int, listener: str, client_host: str) -> None:
        self._server = server
        self._listener = listener
        self.node_id = node_id
        self._client_host = client_host
        self._transport: asyncio.Transport
        self._is_blocked = False
        self._is_at_end = False
        self._has_tls = False
        self._copies_lines = False
        # What is left of an answer that is being sent.
        self._pieces: Iterator[Buffer] | None = None
        self._ahead: list[Buffer] = []  # what was read from it, and is not written yet
        # Sweeps of the server since this connection last received anything.
        self.silent_for = 0
        self.taken = 0
        self.received = self.sent = 0  # bytes
        self.connected_at = server.cluster.clock.now()
        self.connection: Connection

    def __repr__(self) -> str:
        return repr(self.connection)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are not subclasses of asyncio's, but have the same methods.
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=UNSENT_BYTES)
        # Before 3.12 asyncio's own transports join several pieces before they are sent.
        is_asyncio = type(transport).__module__.startswith("asyncio.")
        self._copies_lines = is_asyncio and sys.version_info < (3, 12)
        place = self._client_host, self.node_id, self._listener
        self.connection = Connection(self._server.cluster, self, *place)
        self._server.protocols[self] = None
        if len(self._server.protocols) == MANY_CONNECTIONS:
            import_common()
        self._has_tls = transport.get_extra_info("ssl_object") is not None
        if self._has_tls:
            self._identify(transport)
        self._server.network.connected(self)
        if self._server.is_down:  # it was accepted before, and begins now
            self.reset_when_closed()
            self.connection.close()

    def _identify(self, transport: asyncio.BaseTransport) -> None:
        """Who has shown a certificate. At a listener with SASL it is nobody yet."""
        connection = self.connection
        if connection.login is not None:
            return
        from .tls import principal_of

        certificate = transport.get_extra_info("ssl_object").getpeercert()
        place = connection.node_id, connection.listener, self._client_host
        try:
            connection.principal = principal_of(connection.cluster, *place, certificate)
        except ValueError as error:
            log.warning("closing %s: %s", connection, error)
            connection.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.protocols.pop(self, None)
        counted = self._server.connections.get(self.node_id)
        if counted is not None:  # else its broker was removed
            counted.left(self._listener, self._client_host)
            counted.had(self.connection.requests, self.received, self.sent)
        self._end_answer()
        self.connection.lost()
        self._server.room.keep(self, 0)
        if self._has_tls:
            # Its transport knows this protocol for ever: 40 kB until cycles are collected.
            self._transport = _Gone()

    @property
    def socket_transport(self) -> asyncio.Transport:
        return self._transport

    @property
    def who(self) -> str | None:
        """The client's id; None before its first request."""
        connection = self.connection
        return connection.client_id if connection.requests else None

    @property
    def name(self) -> str:
        return self.connection.name

    @property
    def is_reading(self) -> bool:
        """Whether there is room for more bytes."""
        return self.connection.is_reading

    @property
    def is_blocked(self) -> bool:
        """Whether writing to it is paused."""
        return self._is_blocked

    def use_transport(self, transport: asyncio.Transport | Link) -> None:
        """Send by another transport from now on: one that stands before the socket's, or that."""
        self._transport = cast(asyncio.Transport, transport)

    @property
    def descriptor(self) -> int:
        """That of the connection's socket; -1 once it is closed."""
        sock = self._transport.get_extra_info("socket")
        return -1 if sock is None else int(sock.fileno())

    def has_left(self) -> bool:
        """Whether the client has closed the connection, which the loop may not have noticed yet."""
        sock = socket.socket(fileno=os.dup(self.descriptor))
        try:
            return not sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            return True
        finally:
            sock.close()

    @property
    def port(self) -> int:
        """The client's port."""
        return int(self._transport.get_extra_info("peername")[1])

    def ends(self) -> Ends | None:
        client = self._transport.get_extra_info("peername")
        broker = self._transport.get_extra_info("sockname")
        return (client[0], client[1]), (broker[0], broker[1])

    # Reading

    def get_buffer(self, sizehint: int) -> memoryview:
        return self.connection.frames.buffer()

    def buffer_updated(self, nbytes: int) -> None:
        connection = self.connection
        self.silent_for = 0
        self.received += nbytes
        connection.frames.received(nbytes)
        connection.work()
        if self.taken or connection.frames.held:
            self.read_on()

    def take(self, data: bytes) -> bytes:
        """Bytes that were received by somebody else. Returns those for which there is no room."""
        rest = memoryview(data)
        while rest and self.connection.is_open and self.connection.is_reading:
            buffer = self.get_buffer(len(rest))
            size = min(len(buffer), len(rest))
            buffer[:size] = rest[:size]
            self.buffer_updated(size)
            rest = rest[size:]
        return bytes(rest) if self.connection.is_open else b""

    def eof_received(self) -> bool:
        """Requests sent before are served, unless that has to wait for something else than its
        turn; producers that want no answer rely on it."""
        is_busy = self.connection.is_queued or self._pieces is not None
        self._is_at_end = is_busy and not self._has_tls  # which has no half-closed connections
        return self._is_at_end

    def read_on(self) -> None:
        """Called when something was received or served: read on if there is room, else not."""
        connection = self.connection
        if not connection.is_open:
            return
        if self._is_at_end:
            if not connection.is_queued and self._pieces is None:
                connection.close()
            return
        large = connection.frames.large_bytes
        if connection.frames.is_full:
            self._server.room.keep(self, large + connection.served_bytes)
            reads = False
        elif large:
            reads = self._server.room.take(self, large + connection.served_bytes)
        else:
            self._server.room.keep(self, connection.served_bytes)
            reads = True
        if reads != connection.is_reading:
            connection.is_reading = reads
            if reads:
                self._transport.resume_reading()
            else:
                self._transport.pause_reading()

    # Writing

    def send(self, parts: list[Part]) -> None:
        """Called by the connection with one framed response."""
        transport = self._transport
        if transport.is_closing():  # the client is gone, and the loop has not called yet
            self.connection.lost()
        elif len(parts) == 1:
            self.sent += len(parts[0])
            transport.write(cast(Buffer, parts[0]))
        else:
            self._pieces = pieces(parts, self._server.piece_bytes)
            self._server.sending += 1
            self.connection.paused = True
            self._server.cluster.turns.begin(self._sending(), is_new=False)

    def _sending(self) -> Slices[None]:
        """Give the transport pieces of an answer for as long as it takes them."""
        transport = self._transport
        try:
            while not self._is_blocked and self._pieces is not None:
                some = self._some(self._pieces)
                if not some:
                    self._end_answer()
                else:
                    self.sent += sum(map(len, some))
                    if len(some) == 1:
                        transport.write(some[0])  # which `writelines` would copy
                    else:
                        transport.writelines(some)
                    if transport.is_closing() and not self._is_at_end:
                        self.connection.lost()
                        return
                    yield
        except OSError as error:
            log.warning("closing %s: stored records could not be read: %s", self.connection, error)
            self.abort()
            return
        self._written()

    def _some(self, rest: Iterator[Buffer]) -> list[Buffer]:
        """The parts written at once: a piece, and the short ones before and after it, since each
        write is a system call and may wake the client."""
        if self._copies_lines:
            return list(islice(rest, 1))
        some = [*self._ahead, *islice(rest, 3 - len(self._ahead))]
        large = [place for place, piece in enumerate(some) if len(piece) > UNSENT_BYTES]
        end = large[1] if len(large) > 1 else len(some)
        self._ahead = some[end:]
        return some[:end]

    def _end_answer(self) -> None:
        if self._pieces is not None:
            self._pieces = None
            self._ahead.clear()
            self._server.sending -= 1

    def _written(self) -> None:
        if not self._is_blocked and self._pieces is None:
            self.connection.paused = False
            self.connection.work()
            if self._is_at_end:
                self.read_on()

    def pause_writing(self) -> None:
        self._is_blocked = self.connection.paused = True

    def resume_writing(self) -> None:
        self._is_blocked = False
        if self._pieces is not None:
            self._server.cluster.turns.begin(self._sending(), is_new=False)
        else:
            self._written()

    def lost(self) -> None:
        """For the broker it has ended; the client's socket stays open."""
        self.connection.lost()

    def go_on(self) -> None:
        """The server has moved to another cluster: serve what has come, and send what is left."""
        self.connection.cluster = self._server.cluster
        self.connection.muted = 0  # the timers of the other one do not ring
        if self._pieces is not None and not self._is_blocked:
            self._server.cluster.turns.begin(self._sending(), is_new=False)
        elif self.connection.is_open:
            self.connection.work()

    # Closing

    def close(self) -> None:
        """Called by the connection. What was written before is still sent."""
        self._transport.close()

    def reset_when_closed(self) -> None:
        """When it is closed, the client's socket is reset, and what is on its way is lost."""
        reset_when_closed(self._transport)

    def give_up(self) -> None:
        self.abort()

    def abort(self) -> None:
        """Close without waiting for a client that does not read."""
        self._transport.abort()


class FollowingProtocol(ClientProtocol):
    """One of a broker whose clock follows the test's: it has that time when a request comes."""

    def buffer_updated(self, nbytes: int) -> None:
        self._server.cluster.follow()
        super().buffer_updated(nbytes)
