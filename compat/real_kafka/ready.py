"""Whether a broker is ready, asked with two requests encoded by hand: the broker that others are
compared with must not depend on what it is compared with."""

from __future__ import annotations

import socket
import struct

_API_VERSIONS, _METADATA = 18, 3


def is_ready(host: str, port: int) -> bool:
    """Whether a broker there answers ApiVersions and lists at least one broker in Metadata."""
    return listed(host, port) > 0


def listed(host: str, port: int, *, asks_versions: bool = True) -> int:
    """How many brokers a broker there lists in Metadata; none if it does not answer. Before 0.10
    no broker answers ApiVersions."""
    try:
        with socket.create_connection((host, port), timeout=5.0) as connection:
            if asks_versions:
                _call(connection, api_key=_API_VERSIONS, body=b"")
            answer = _call(connection, api_key=_METADATA, body=struct.pack(">i", 0))
    except (OSError, EOFError):
        return 0
    count: int = struct.unpack_from(">i", answer, 4)[0]  # behind the correlation id
    return count


def accepts(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=5.0).close()
    except OSError:
        return False
    return True


def _call(connection: socket.socket, *, api_key: int, body: bytes) -> bytes:
    """Send version 0 of a request without client id; return the answer, correlation id first."""
    request = struct.pack(">hhih", api_key, 0, 1, -1) + body
    connection.sendall(struct.pack(">i", len(request)) + request)
    with connection.makefile("rb") as stream:
        head = stream.read(4)
        answer = stream.read(struct.unpack(">i", head)[0]) if len(head) == 4 else b""
    if len(answer) < 8:
        raise EOFError("the broker closed the connection")
    return answer
