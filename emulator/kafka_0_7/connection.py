"""One connection to a broker of 0.7: frames in, answers out, in order.

A request that cannot be carried out closes the connection, as brokers of 0.7 did. While a client
does not read, nothing of it is read; memory is taken only for what has arrived.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from struct import Struct
from typing import TypeAlias, cast

from ...storage.log_0_7 import InvalidMessage
from ...wire.errors import WireError
from ...wire.legacy.requests_0_7 import Kind, OldRequest, decode_request
from ..base.logger import log
from ..net.protocol import bound

FRAME_BYTES_MAX = 104_857_600
_SIZE = Struct(">i")


Answer: TypeAlias = Callable[[Kind, OldRequest], bytes | None]
"""Answers a request, or not (None). Raises what closes the connection."""


class OldConnection(asyncio.Protocol):
    _transport: asyncio.Transport

    def __init__(self, answer: Answer, connections: set[OldConnection]) -> None:
        self._answer_to, self._connections = answer, connections
        self._buffer = bytearray()
        self._is_paused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.discard(self)

    def close(self) -> None:
        self._transport.abort()

    def pause_writing(self) -> None:
        self._is_paused = True
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        self._is_paused = False
        self._transport.resume_reading()
        self._serve()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._serve()

    def _serve(self) -> None:
        buffer, at = self._buffer, 0
        while len(buffer) - at >= _SIZE.size and not self._is_paused:
            (size,) = _SIZE.unpack_from(buffer, at)
            if not 0 <= size <= FRAME_BYTES_MAX:
                self._refuse(f"a size of {size}")
                return
            if len(buffer) - at - _SIZE.size < size:
                break
            at += _SIZE.size
            frame = bytes(buffer[at : at + size])
            at += size
            if not self._answer(frame):
                return
        del buffer[:at]

    def _answer(self, frame: bytes) -> bool:
        """Whether the connection stays open."""
        from .broker import Unserved

        try:
            answer = self._answer_to(*decode_request(frame))
        except (WireError, InvalidMessage, Unserved, OSError) as error:
            self._refuse(str(error))
            return False
        if answer is not None:
            self._transport.write(answer)
        return True

    def _refuse(self, why: str) -> None:
        log.info("a connection of Kafka 0.7 is closed: %s", why)
        self._buffer.clear()
        self._transport.close()


async def listen(
    answer: Answer, connections: set[OldConnection], host: str, port: int
) -> tuple[asyncio.Server, str, int]:
    """Accept connections; also where. Raises OSError."""
    sock = bound(host, port)
    name = sock.getsockname()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(partial(OldConnection, answer, connections), sock=sock)
    return server, str(name[0]), int(name[1])
