"""A proxy in front of a broker, which can lose what the broker answers."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

CHUNK = 1 << 16


class Proxy:
    """Passes bytes on between clients and a port, and ends a client's connection with the broker's.

    While `loses_answers` is set, what the broker says goes nowhere; `lost` counts such bytes.
    """

    def __init__(self, port: int) -> None:
        """To that port of 127.0.0.1, on which nobody need listen yet."""
        self.loses_answers = False
        self.lost = 0
        self._port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._sockets: list[socket.socket] = []

    def __enter__(self) -> Proxy:
        threading.Thread(target=self._accept, name="proxy", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for each in [self._listener, *self._sockets]:
            close(each)

    def _accept(self) -> None:
        with suppress(OSError):  # the listener is closed
            while True:
                client, _ = self._listener.accept()
                try:
                    broker = socket.create_connection(("127.0.0.1", self._port))
                except OSError:
                    client.close()
                    continue
                self._sockets += [client, broker]
                for ends in ((client, broker, False), (broker, client, True)):
                    threading.Thread(target=self._pass_on, args=ends, daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket, is_answer: bool) -> None:
        with suppress(OSError):  # one of the two has gone away
            while data := source.recv(CHUNK):
                if is_answer and self.loses_answers:
                    self.lost += len(data)
                else:
                    sink.sendall(data)
        close(source)
        close(sink)


def close(each: socket.socket) -> None:
    """Close a socket, also under a thread that waits for it."""
    with suppress(OSError):
        each.shutdown(socket.SHUT_RDWR)
    each.close()
