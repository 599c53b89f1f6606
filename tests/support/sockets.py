"""Bare sockets to an emulator: frames go in and come out as bytes."""

from __future__ import annotations

import socket
import struct

from odradek import Emulator, Proxy
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.headers import RequestHeader, write_request_header


def connect(kafka: Emulator | Proxy) -> socket.socket:
    host, port = kafka.bootstrap_servers.rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=30)


def framed(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


def api_versions(version: int = 3, correlation: int = 7) -> bytes:
    header = write_request_header(RequestHeader(18, version, correlation, "test"))
    body = ApiVersionsRequest(client_software_name="test", client_software_version="1")
    return framed(header + body.encode(version))


def receive(sock: socket.socket) -> bytes:
    """One frame, or b"" when the broker closed the connection."""
    data, size = b"", 4
    while len(data) < size:
        try:
            piece = sock.recv(size - len(data))  # no more: the next frame may be there already
        except ConnectionResetError:
            return b""
        if not piece:
            return b""
        data += piece
        if len(data) == 4 == size:
            size += int.from_bytes(data, "big")
    return data[4:]


def is_alive(kafka: Emulator) -> bool:
    with connect(kafka) as sock:
        sock.sendall(api_versions())
        return receive(sock)[:4] == struct.pack(">i", 7)
