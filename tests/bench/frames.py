"""Requests as raw frames: what no client library should stand in front of.

- `answers_api_versions`: whether a broker is there, asked the cheapest way.
- `metadata_request`: one small request, the same bytes to every broker: Metadata version 12 for
  one topic. `check_metadata` says whether the answer is the one expected.
- `requests_per_second`: how many of those a broker answers, over some connections with one request
  in flight on each. The load comes from the Go program `load`; without Go, from asyncio in this
  process, which is slower than a fast broker: the output says so then.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import subprocess
import time
from typing import cast

from odradek.compat import Unavailable

from .programs import built

TIMEOUT_S = 30.0
API_VERSIONS, METADATA = 18, 3
CORRELATION_ID = 7


def answers_api_versions(address: str) -> bool:
    """Say whether a broker at HOST:PORT answers ApiVersions version 0 without an error."""
    with contextlib.suppress(OSError, EOFError), connect(address) as connection:
        answer = ask(connection, struct.pack(">hhih", API_VERSIONS, 0, CORRELATION_ID, -1))
        return struct.unpack_from(">ih", answer) == (CORRELATION_ID, 0)
    return False


def metadata_request(topic: str) -> bytes:
    """Return a Metadata request (version 12) for that topic, without its length prefix."""
    name, client = topic.encode(), b"bench"
    header = struct.pack(">hhih", METADATA, 12, CORRELATION_ID, len(client)) + client + b"\0"
    one_topic = b"\2" + bytes(16) + bytes([len(name) + 1]) + name + b"\0"
    return header + one_topic + b"\0\0\0"  # no creation, no authorized operations, no tags


def check_metadata(address: str, topic: str) -> int:
    """Ask once; return the answer's length in bytes. Raises ValueError if it names an error."""
    with connect(address) as connection:
        answer = ask(connection, metadata_request(topic))
    name = topic.encode()
    position = answer.find(bytes([len(name) + 1]) + name)
    if position < 2 or answer[position - 2 : position] != b"\0\0":
        raise ValueError(f"Metadata does not describe the topic {topic}: {answer!r}")
    return len(answer)


def requests_per_second(address: str, topic: str, connections: int, seconds: float) -> float:
    """Return the Metadata requests answered per second. Raises ValueError on a wrong answer."""
    frame, size = metadata_request(topic), check_metadata(address, topic)
    try:
        program = built("load")
    except Unavailable:
        return asyncio.run(_load(address, frame, size, connections, seconds))
    done = subprocess.run(
        [str(program), address, str(connections), str(seconds), frame.hex(), str(size)],
        capture_output=True,
        text=True,
        timeout=seconds + 2 * TIMEOUT_S,
    )
    if done.returncode != 0:
        raise ValueError(done.stderr.strip())
    count, elapsed = done.stdout.split()
    return int(count) / float(elapsed)


class _Asker(asyncio.Protocol):
    """One connection of the Python load: sends the frame, and again when the answer is whole."""

    def __init__(self, request: bytes, size: int) -> None:
        self._request, self._size = request, 4 + size
        self._pending = 0  # bytes of the answer that have arrived
        self.count = 0
        self.failure: Exception | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._pending += len(data)
        if self._pending > self._size:
            self.failure = ValueError("an answer longer than the first")
            self._transport.abort()
        elif self._pending == self._size:
            self._pending = 0
            self.count += 1
            self._transport.write(self._request)

    def connection_lost(self, failure: Exception | None) -> None:
        self.failure = self.failure or failure or EOFError("the broker closed the connection")


async def _load(address: str, frame: bytes, size: int, connections: int, seconds: float) -> float:
    """The same load in Python."""
    host, _, port = address.rpartition(":")
    request = struct.pack(">i", len(frame)) + frame
    loop = asyncio.get_running_loop()
    made = [
        await loop.create_connection(lambda: _Asker(request, size), host, int(port))
        for _ in range(connections)
    ]
    askers = [asker for _, asker in made]
    before, start = sum(asker.count for asker in askers), time.perf_counter()
    await asyncio.sleep(seconds)
    rate = (sum(asker.count for asker in askers) - before) / (time.perf_counter() - start)
    stuck = [asker for asker in askers if asker.failure or not asker.count]
    for transport, _ in made:
        transport.abort()
    if stuck:
        raise ValueError(f"{len(stuck)} of {connections} connections failed: {stuck[0].failure}")
    return rate


def connect(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    connection = socket.create_connection((host, int(port)), timeout=TIMEOUT_S)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def ask(connection: socket.socket, request: bytes) -> bytes:
    connection.sendall(struct.pack(">i", len(request)) + request)
    return _receive(connection)


def _receive(connection: socket.socket) -> bytes:
    """Return one answer, correlation id first. Raises EOFError if the broker hangs up."""
    data = bytearray()
    while len(data) < 4 or len(data) < 4 + struct.unpack_from(">i", data)[0]:
        chunk = connection.recv(65536)
        if not chunk:
            raise EOFError("the broker closed the connection")
        data += chunk
    return bytes(data[4:])
