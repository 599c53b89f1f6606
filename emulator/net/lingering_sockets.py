"""LingeringSockets: clients that are left open when a test's broker ends are kept from noticing.

A stock client whose broker has gone says so again and again: librdkafka writes 3 lines a second to
stderr, whatever test runs meanwhile. So the broker's sockets are kept, by one thread for the whole
process, which answers no more than ApiVersions: a client waits for an answer, and says nothing for
as long as its request may take (librdkafka 60 s, kafka-python 30 s, aiokafka 40 s), and little from
then on.

- At most about MOST_SOCKETS are kept: of more, unused ports and then the oldest are closed. A port
  is given up once nobody was connected to it for EMPTY_S; the thread ends with the last one. It
  does not keep the process from ending.
- A process that was forked gives up its copies.
"""

from __future__ import annotations

import os
import socket
import struct
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from selectors import EVENT_READ, DefaultSelector

from ..base.real_time import monotonic

MOST_SOCKETS = 256
EMPTY_S = 15.0
_API_VERSIONS = 18
_HEAD = struct.Struct(">ihhi")  # size, API key, version, correlation id
_ANSWER = struct.Struct(">ii")  # size, correlation id
_LOOK_S = 1.0


class _Port:
    """Where a broker has listened."""

    def __init__(self, versions: Mapping[int, bytes]) -> None:
        self.versions = versions
        self.connected = 0
        self.empty_since = monotonic()


class _Client:
    """A connection. What comes on one that the broker had is not looked at: it may begin within a
    request."""

    def __init__(self, sock: socket.socket, port: _Port, *, is_new: bool) -> None:
        self.sock = sock
        self.port = port
        self._is_new = is_new
        self._head = bytearray()
        self._skips = 0

    def received(self, data: bytes) -> None:
        """Answer what asks for versions."""
        while data and self._is_new:
            if self._skips:
                skipped = min(self._skips, len(data))
                self._skips -= skipped
                data = data[skipped:]
                continue
            missing = _HEAD.size - len(self._head)
            self._head += data[:missing]
            data = data[missing:]
            if len(self._head) == _HEAD.size:
                size, key, version, correlation_id = _HEAD.unpack(self._head)
                self._head.clear()
                self._skips = max(0, size - _HEAD.size + 4)
                body = self.port.versions.get(version)
                if key == _API_VERSIONS and body is not None:
                    self.sock.send(_ANSWER.pack(4 + len(body), correlation_id) + body)


class LingeringSockets:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._new: list[tuple[list[socket.socket], list[socket.socket], Mapping[int, bytes]]] = []
        self._thread: threading.Thread | None = None
        self._selector: DefaultSelector | None = None

    def keep(
        self,
        listeners: Sequence[socket.socket],
        clients: Sequence[socket.socket],
        versions: Mapping[int, bytes],
    ) -> None:
        """Keep these sockets of a broker. `versions` has the bodies of its answers to ApiVersions,
        by version."""
        with self._lock:
            self._new.append((list(listeners), list(clients), versions))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="odradek-quiet", daemon=True)
                self._thread.start()

    def count(self) -> int:
        with self._lock:
            selector = self._selector
            new = sum(len(listeners) + len(clients) for listeners, clients, _ in self._new)
            return new + (0 if selector is None else len(selector.get_map()))

    def forked(self) -> None:
        """In a process that was forked: the thread is not here."""
        if self._selector is not None:
            for key in list(self._selector.get_map().values()):
                _close(key.fileobj)
            self._selector.close()
        self.__init__()  # type: ignore[misc]

    # The thread

    def _run(self) -> None:
        while self._take():
            assert self._selector is not None
            for key, _ in self._selector.select(_LOOK_S):
                # One that does not hold: the next look finds what has gone.
                with suppress(OSError):
                    self._serve(key.fileobj, key.data)  # type: ignore[arg-type]
            self._give_up()

    def _take(self) -> bool:
        with self._lock:
            if self._selector is None:
                self._selector = DefaultSelector()
            for listeners, clients, versions in self._new:
                port = _Port(versions)
                for sock in listeners:
                    self._selector.register(sock, EVENT_READ, port)
                for sock in clients:
                    self._connected(_Client(sock, port, is_new=False))
            self._new.clear()
            if self._selector.get_map():
                return True
            self._selector.close()
            self._selector = self._thread = None
            return False

    def _connected(self, client: _Client) -> None:
        assert self._selector is not None
        client.port.connected += 1
        self._selector.register(client.sock, EVENT_READ, client)

    def _serve(self, sock: socket.socket, data: _Port | _Client) -> None:
        if isinstance(data, _Port):
            client, _ = sock.accept()
            client.setblocking(False)
            self._connected(_Client(client, data, is_new=True))
            return
        received = b""
        try:
            received = sock.recv(1 << 16)
            data.received(received)
        except BlockingIOError:
            return
        finally:
            if not received:
                self._drop(sock, data)

    def _drop(self, sock: socket.socket, data: _Port | _Client) -> None:
        assert self._selector is not None
        if isinstance(data, _Client):
            data.port.connected -= 1
            data.port.empty_since = monotonic()
        self._selector.unregister(sock)
        _close(sock)

    def _give_up(self) -> None:
        """Ports that nobody wants any more, and of too many sockets first the ports that nobody
        wants now, then the oldest."""
        assert self._selector is not None
        kept = list(self._selector.get_map().values())
        unused = [key for key in kept if isinstance(key.data, _Port) and not key.data.connected]
        now = monotonic()
        ended = [key for key in unused if now - key.data.empty_since > EMPTY_S]
        excess = len(kept) - len(ended) - MOST_SOCKETS
        if excess > 0:
            left = [key for key in unused if key not in ended]
            left += [key for key in kept if key not in unused]
            ended += left[:excess]
        for key in ended:
            self._drop(key.fileobj, key.data)  # type: ignore[arg-type]


def _close(sock: object) -> None:
    assert isinstance(sock, socket.socket)
    with suppress(OSError):
        sock.close()


LINGERING = LingeringSockets()
os.register_at_fork(after_in_child=LINGERING.forked)
