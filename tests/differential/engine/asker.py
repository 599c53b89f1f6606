"""One connection on which each request waits for its answer: for questions that are not part of the
comparison, and for tests and benchmarks."""

from __future__ import annotations

import socket
from struct import Struct
from typing import Any

from odradek.wire import Request
from odradek.wire.headers import RequestHeader, write_request_header

from .side import Asked, decoded

TIMEOUT_S = 30.0
CLIENT_ID = "engine"
_SIZE = Struct(">i")


class Asker:
    """A connection to a broker, opened at once."""

    def __init__(self, address: tuple[str, int]) -> None:
        self._socket = socket.create_connection(address, TIMEOUT_S)
        self._stream = self._socket.makefile("rb")

    def ask(self, request: Request, version: int) -> Any:
        """The answer. Raises ConnectionError if there is none."""
        header = RequestHeader(request.api_key, version, 1, CLIENT_ID)
        frame = write_request_header(header) + request.encode(version)
        self._socket.sendall(_SIZE.pack(len(frame)) + frame)
        head = self._stream.read(_SIZE.size)
        data = self._stream.read(_SIZE.unpack(head)[0]) if len(head) == _SIZE.size else b""
        answer = decoded(bytearray(data), Asked(0, request, version)) if data else "closed"
        if isinstance(answer, str):
            raise ConnectionError(f"{type(request).__name__} v{version}: {answer}")
        return answer

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()
        self._socket.close()
