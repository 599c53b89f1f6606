"""One connection on which each request waits for its answer: for questions that are not part of the
comparison, and for tests and benchmarks."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from struct import Struct
from typing import Any

from odradek.wire import Request
from odradek.wire.headers import RequestHeader, write_request_header

from .side import Asked, decoded

TIMEOUT_S = 30.0
CLIENT_ID = "engine"
_SIZE = Struct(">i")


class Asker:
    """A connection to a broker, opened at once. Where `ranges` say which versions of which API it
    serves, it is asked in those alone."""

    def __init__(
        self,
        address: tuple[str, int],
        ranges: Mapping[type[Request], tuple[int, int]] | None = None,
    ) -> None:
        self._ranges = ranges
        self._socket = socket.create_connection(address, TIMEOUT_S)
        self._stream = self._socket.makefile("rb")

    def serves(self, request: type[Request], version: int = 0) -> bool:
        """Whether it has an API, in this version or a later one."""
        return self._ranges is None or self._ranges.get(request, (0, -1))[1] >= version

    def ask(self, request: Request, version: int) -> Any:
        """The answer, in this version or the nearest that is served. Raises ConnectionError if
        there is none."""
        if self._ranges is not None and type(request) in self._ranges:
            first, last = self._ranges[type(request)]
            version = max(first, min(version, last))
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
        self._stream.close()
        self._socket.close()
