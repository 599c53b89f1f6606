"""Requests by hand, for what no stock client lets a test say."""

from __future__ import annotations

import socket
import struct
from typing import Any

from odradek.wire import Request
from odradek.wire.api import response_class
from odradek.wire.headers import RequestHeader, read_response_header, write_request_header

TIMEOUT_S = 60.0


class Connection:
    """One connection to a broker, one request at a time."""

    def __init__(self, bootstrap: str) -> None:
        host, port = bootstrap.rsplit(":", 1)
        self._socket = socket.create_connection((host, int(port)), timeout=TIMEOUT_S)
        self._stream = self._socket.makefile("rb")
        self._correlation_id = 0

    def ask(self, request: Request, version: int, *, answered_in: int | None = None) -> Any:
        """Return the answer, which is in the same version unless told otherwise. Raises OSError or
        EOFError when the broker goes away meanwhile."""
        key = request.api_key
        self.send(request, version)
        version = version if answered_in is None else answered_in
        frame = self._read(struct.unpack(">i", self._read(4))[0])
        correlation_id, pos = read_response_header(frame, key, version)
        assert correlation_id == self._correlation_id
        message, end = response_class(key).decode_from(frame, version, pos)
        assert end == len(frame), "bytes behind the answer"
        return message

    def send(self, request: Request, version: int) -> None:
        """Send a request whose answer nobody wants."""
        self._correlation_id += 1
        header = RequestHeader(request.api_key, version, self._correlation_id, "by hand")
        body = write_request_header(header) + request.encode(version)
        self._socket.sendall(struct.pack(">i", len(body)) + body)

    def _read(self, size: int) -> bytes:
        data = self._stream.read(size)
        if len(data) < size:
            raise EOFError("the broker closed the connection")
        return data

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()
        self._socket.close()


class BrokerAt:
    """A broker that is asked over a new connection each time."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap

    def ask(self, request: Request, version: int) -> Any:
        """Return the answer."""
        return ask(self._bootstrap, request, version)


def ask(bootstrap: str, request: Request, version: int) -> Any:
    """Ask over a new connection."""
    with Connection(bootstrap) as connection:
        return connection.ask(request, version)
