"""Sockets: bound, doubled, told to reset."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
import sys
from contextlib import suppress

_NO_LINGER = struct.pack("ii", 1, 0)


def reset_when_closed(transport: asyncio.BaseTransport) -> None:
    """When it is closed, who is connected is told by a reset, and what is on its way is lost."""
    sock = transport.get_extra_info("socket")
    if sock is not None:
        with suppress(OSError):  # it is closed
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)


def copy_of(descriptor: int) -> socket.socket:
    """Another socket for the same connection."""
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
