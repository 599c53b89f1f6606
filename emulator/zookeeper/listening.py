"""ZooKeeper's sockets, on the event loop in which they are made.

What a client may cost, so that a hostile one hurts nobody:

- A frame is at most MOST_FRAME_BYTES (`jute.maxbuffer`), and no memory is taken for one before its
  bytes are there.
- Who does not read gets no answers: nothing of it is read while more than a little waits to be
  sent, and it is closed when notifications pile up beyond MOST_UNSENT_BYTES.
- A turn of the event loop serves a few frames of a connection, and then the others.
- Connections are limited, and one that asks for no session is closed after a while.
- Nodes, bytes, watches and sessions: tree.py, watches.py, sessions.py.
"""

from __future__ import annotations

import asyncio
import struct
from functools import partial
from typing import cast

from ..base.addresses import bracketed
from ..net.listener import Listener
from ..net.protocol import bound
from .keeper import Client, Keeper
from .words import answer_to

MOST_FRAME_BYTES = 0xFFFFF
MOST_UNSENT_BYTES = 16 << 20
MOST_CONNECTIONS = 10_000
_FRAMES_A_TURN = 64
_NO_SESSION_S = 30.0
_LENGTH = struct.Struct(">i")


class KeeperServer:
    """The sockets of a Keeper. Raises OSError if it cannot listen."""

    def __init__(self, keeper: Keeper, host: str, port: int) -> None:
        self.keeper = keeper
        self.protocols: dict[_Protocol, None] = {}
        sock = bound(host, port)
        name = sock.getsockname()
        self.host, self.port = str(name[0]), int(name[1])
        self._listener = Listener(sock, _Admission(self), partial(_Protocol, self), -1)

    @property
    def connect(self) -> str:
        """The value of a `zookeeper.connect`."""
        return f"{bracketed(self.host)}:{self.port}"

    def settle(self) -> None:
        """Frames were served: do what they bring about."""

    def descriptors(self) -> list[int]:
        found = [self._listener.descriptor, *(each.descriptor for each in self.protocols)]
        return [number for number in found if number >= 0]

    async def close(self) -> None:
        await self._listener.close()
        for protocol in [*self.protocols]:
            protocol.transport.abort()
        while self.protocols:
            await asyncio.sleep(0)


class _Admission:
    """How many connections there may be: who comes later waits."""

    def __init__(self, server: KeeperServer) -> None:
        self._server = server

    @property
    def has_slot(self) -> bool:
        return len(self._server.protocols) < MOST_CONNECTIONS

    def delay_ms(self, now: int) -> int:
        return 0

    def refusal_ms(self, address: str) -> int | None:
        return None

    def left(self, address: str) -> None:
        """One has ended."""


class _Protocol(asyncio.Protocol):
    """One connection: frames in, frames out, or a four-letter word."""

    transport: asyncio.Transport

    def __init__(self, server: KeeperServer, address: str) -> None:
        self._server = server
        self._address = address
        self._loop = asyncio.get_running_loop()
        self._buffer = bytearray()
        self._is_first = True
        self._is_paused = False
        self._turn: asyncio.Handle | None = None
        self._client: Client | None = None

    @property
    def descriptor(self) -> int:
        """Of its socket; -1 if it is closed."""
        sock = self.transport.get_extra_info("socket")
        return -1 if sock is None else int(sock.fileno())

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self._server.protocols[self] = None
        peer = self.transport.get_extra_info("peername") or (self._address, 0)
        self._client = Client(
            self._server.keeper, (str(peer[0]), int(peer[1])), self._send, self.transport.close
        )
        self._no_session = self._loop.call_later(_NO_SESSION_S, self._close_without_session)

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.protocols.pop(self, None)
        self._no_session.cancel()
        if self._turn is not None:
            self._turn.cancel()
        if self._client is not None:
            self._client.lost()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._turn is None and not self._is_paused:
            self._serve()

    def pause_writing(self) -> None:
        self._is_paused = True
        self.transport.pause_reading()

    def resume_writing(self) -> None:
        self._is_paused = False
        if self._turn is None:
            self._turn_soon()

    def _serve(self) -> None:
        self._turn = None
        buffer, at = self._buffer, 0
        for _ in range(_FRAMES_A_TURN):
            if self.transport.is_closing() or self._is_paused or len(buffer) - at < 4:
                break
            if self._is_first and self._is_word(bytes(buffer[:4])):
                return
            length = _LENGTH.unpack_from(buffer, at)[0]
            if not 0 <= length <= MOST_FRAME_BYTES:
                self.transport.close()
                break
            if len(buffer) - at - 4 < length:
                break
            self._is_first = False
            frame = bytes(buffer[at + 4 : at + 4 + length])
            at += 4 + length
            assert self._client is not None
            self._client.received(frame)
        else:
            self._turn_soon()
        del buffer[:at]
        self._server.settle()
        if self._turn is None and not self._is_paused and not self.transport.is_closing():
            self.transport.resume_reading()

    def _turn_soon(self) -> None:
        self.transport.pause_reading()
        self._turn = self._loop.call_soon(self._serve)

    def _is_word(self, word: bytes) -> bool:
        answer = answer_to(word, self._server.keeper, self._server.port)
        if answer is None:
            return False
        self.transport.write(answer.encode())
        self.transport.close()
        return True

    def _send(self, frame: bytes) -> None:
        if self.transport.is_closing():
            return
        self.transport.write(_LENGTH.pack(len(frame)) + frame)
        if self.transport.get_write_buffer_size() > MOST_UNSENT_BYTES:
            self.transport.abort()

    def _close_without_session(self) -> None:
        if self._client is not None and self._client.session is None:
            self.transport.close()
