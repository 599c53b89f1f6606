"""A connection without a socket of which a test sees the bytes that are sent."""

from __future__ import annotations

from odradek.emulator.cluster import Cluster
from odradek.emulator.net.connection import Connection
from odradek.wire import Request, Response
from odradek.wire.api import response_class
from odradek.wire.frames import SIZE, Frames, Part, pieces
from odradek.wire.headers import RequestHeader, read_response_header, write_request_header


class RawClient:
    """Requests go in one by one; `sent` is what came out."""

    def __init__(self, cluster: Cluster, client_id: str = "test", node_id: int = 1) -> None:
        self.client_id = client_id
        self.sent = b""
        self.is_closed = False
        self.connection = Connection(cluster, _Transport(self), "127.0.0.1", node_id)
        self._asked: list[tuple[int, int]] = []

    def ask(self, request: Request, version: int) -> list[Response]:
        """Send a request; return what is answered at once."""
        before = len(self.sent)
        self.send(request, version)
        return self.answers(self.sent[before:])

    def send(self, request: Request, version: int) -> None:
        """Send a request."""
        self._asked.append((request.api_key, version))
        header = RequestHeader(request.api_key, version, len(self._asked), self.client_id)
        data = write_request_header(header) + request.encode(version)
        self.connection.feed(SIZE.pack(len(data)) + data)

    def answers(self, data: bytes | None = None) -> list[Response]:
        """What was sent, or some of it, decoded; what is no whole frame is left out."""
        found = []
        for frame in Frames().feed(self.sent if data is None else data):
            (correlation,) = SIZE.unpack_from(frame)
            key, version = self._asked[correlation - 1]
            _, pos = read_response_header(frame, key, version)
            message, end = response_class(key).decode_from(bytes(frame), version, pos)
            assert end == len(frame), "bytes behind the answer"
            found.append(message)
        return found


class _Transport:
    """The connection's side."""

    def __init__(self, client: RawClient) -> None:
        self._client = client

    def send(self, parts: list[Part]) -> None:
        self._client.sent += b"".join(pieces(parts, lambda: 1 << 20))

    def read_on(self) -> None:
        """There is always room."""

    def ends(self) -> None:
        """There is no socket."""

    def close(self) -> None:
        self._client.is_closed = True
