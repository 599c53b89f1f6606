"""A client that asks and is answered, and sees what the network does to it."""

from __future__ import annotations

import socket
import struct
from time import monotonic

from odradek import Emulator, Proxy
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.headers import RequestHeader, write_request_header

from tests.support.sockets import connect, framed, receive

SOON = 0.15  # seconds in which something would have come that does not


def request(client_id: str = "test", correlation: int = 7) -> bytes:
    header = write_request_header(RequestHeader(18, 3, correlation, client_id))
    body = ApiVersionsRequest(client_software_name="test", client_software_version="1")
    return framed(header + body.encode(3))


class Client:
    """A socket, and the requests and answers on it."""

    def __init__(self, kafka: Emulator | Proxy, client_id: str = "test") -> None:
        self.sock = connect(kafka)
        self._client_id = client_id
        self._correlation = 0

    def send(self) -> None:
        self._correlation += 1
        self.sock.sendall(request(self._client_id, self._correlation))

    def ask(self) -> float:
        """Ask, and have an answer; returns how many seconds that took."""
        begin = monotonic()
        self.send()
        assert self.has_answer()
        return monotonic() - begin

    def has_answer(self) -> bool:
        return receive(self.sock)[:4] == struct.pack(">i", self._correlation)

    def answers(self, count: int) -> bool:
        """Whether the last so many requests are answered, in their order."""
        first = self._correlation - count + 1
        wanted = [struct.pack(">i", first + number) for number in range(count)]
        return [receive(self.sock)[:4] for _ in range(count)] == wanted

    def hears_nothing(self) -> bool:
        self.sock.settimeout(SOON)
        try:
            return not self.sock.recv(1, socket.MSG_PEEK) and False
        except TimeoutError:
            return True
        finally:
            self.sock.settimeout(30)

    def is_reset(self) -> bool:
        try:
            return not self.sock.recv(1) and False
        except ConnectionResetError:
            return True

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.sock.close()
