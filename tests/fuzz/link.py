"""A connection to a broker that never blocks, and what it waits for."""

from __future__ import annotations

import socket
import struct
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from odradek.wire.api.produce import ProduceRequest

from .events import Event
from .findings import Finding
from .seeds import MAY_WAIT

CONNECT_S = 20.0
RECEIVE = 1 << 18
_PRODUCE = ProduceRequest.api_key
_LINGER_0 = struct.pack("ii", 1, 0)

Taken = Callable[[bytes], None]


class Waiting(NamedTuple):
    """A frame that was sent; `taken` is called with the answer's frame, if somebody wants it."""

    correlation_id: int
    api_key: int
    taken: Taken | None = None


class Link:
    """One connection. What it does is written down in a history."""

    def __init__(self, number: int, address: tuple[str, int], history: list[Event]) -> None:
        self.number = number
        self.socket = socket.create_connection(address, CONNECT_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.waiting: deque[Waiting] = deque()
        self.sent_at = 0.0
        self.answers = 0
        self.is_open = True
        # The sizes of frames were wrong: what will be answered cannot be told.
        self.is_desynced = False
        self._history = history
        self._out: deque[bytes] = deque()
        self._in = bytearray()

    @property
    def is_sending(self) -> bool:
        """Whether there are pieces that were not sent yet."""
        return bool(self._out)

    def send(self, event: Event, frames: list[Waiting]) -> None:
        """Begin to send the pieces of an event; the rest is sent by `flush`."""
        self._history.append(event)
        self.waiting += frames
        self.sent_at = time.monotonic()
        self._out += event.pieces
        self.flush()

    def flush(self) -> None:
        """Send the next piece. Raises OSError if the broker has closed the connection."""
        if self._out:
            piece = self._out.popleft()
            try:
                sent = self.socket.send(piece)
            except BlockingIOError:
                sent = 0
            if sent < len(piece):
                self._out.appendleft(piece[sent:])

    def receive(self) -> list[Finding]:
        """Take in the answers that are there. Raises OSError, EOFError once it is closed."""
        try:
            data = self.socket.recv(RECEIVE)
        except BlockingIOError:
            return []
        if not data:
            raise EOFError
        received = self._in
        received += data
        pos, found = 0, []
        while len(received) - pos >= 8:
            end = pos + 4 + int.from_bytes(received[pos : pos + 4], "big")
            if end > len(received):
                break
            found += self._answered(received, pos + 4, end)
            pos = end
        if pos:
            del received[:pos]
        return found

    def close(self, *, is_reset: bool = False) -> None:
        """Close it, perhaps without the usual words."""
        self._history.append(Event(self.number, "reset" if is_reset else "close"))
        if is_reset:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_0)
        self.socket.close()

    def held_by(self) -> int | None:
        """The API of the request that keeps the others waiting; None if there is no such."""
        return next((each.api_key for each in self.waiting if each.api_key != _PRODUCE), None)

    @property
    def may_wait(self) -> bool:
        """Whether it is right that no answer comes."""
        held = self.held_by()
        return self.is_desynced or held is None or held in MAY_WAIT

    def _answered(self, received: bytearray, start: int, end: int) -> list[Finding]:
        self.answers += 1
        if self.is_desynced:
            return []
        number = int.from_bytes(received[start : start + 4], "big", signed=True)
        found = []
        while self.waiting:
            asked = self.waiting.popleft()
            if asked.correlation_id == number:
                if asked.taken is not None:
                    asked.taken(bytes(received[start:end]))
                return found
            if asked.api_key != _PRODUCE:  # which may ask for no answer
                place = f"API {asked.api_key}"
                found.append(Finding("unanswered", place, f"{place}, on link {self.number}"))
        answer = bytes(received[start : min(end, start + 200)]).hex()
        return [*found, Finding("unasked", "an answer to nothing", answer)]
