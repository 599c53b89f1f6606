"""A capture as a journal: the requests of each connection, and the answers with their correlation
ids.

Rules:
- The broker's end is that with the port that is given. Without one: who was sent the first SYN;
  of a connection that had begun before, the end with port 9092, else that with the lower port.
- A connection whose first bytes are no request of Kafka's is left out.
- The time of a request is that of its last packet; an answer's likewise.
- A request that is never answered had "no reply" if a later one of its connection was answered, and
  else was "closed" or still is "waiting", by whether the connection ended.

A direction of a TCP connection: segments in any order in, bytes in their order out.

- The first sequence number is that of a SYN, or that of the first segment seen.
- What comes again is dropped, what comes early waits. Where bytes are missing for good, because the
  capture lost them or kept packets in part, zeros stand for them, and `holes` says where: a frame
  with a hole cannot be decoded, but those after it can.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf
from typing import BinaryIO

from .....wire import WireError
from .....wire.api import API_MODULES
from .....wire.headers import read_request_header
from ..exchange import ANSWERED, CLOSED, NO_REPLY, WAITING, Address, Exchange, Peer
from ..traffic import Traffic
from .blocks import packets
from .packets import ACK, FIN, RST, SYN, Segment, segment_of

_WRAP = 1 << 32
_HALF = 1 << 31
_WAITING_MAX = 1024
_HOLE_MAX = 1 << 24


class Stream:
    """The bytes of one direction. `take` hands out whole frames."""

    def __init__(self) -> None:
        self._next: int | None = None
        self._early: dict[int, Segment] = {}
        self._bytes = bytearray()
        # Where in `_bytes` zeros stand for what is missing.
        self._holes: list[tuple[int, int]] = []
        self.is_lost = False
        """Whether it went out of step, so that nothing can be read in it any more."""

    def put(self, segment: Segment) -> None:
        """Another segment of this direction."""
        if self.is_lost:
            return
        sequence = segment.sequence
        if segment.flags & SYN:
            self._next = (sequence + 1) % _WRAP
            return
        if not segment.payload and not segment.missing:
            return
        if self._next is None:
            self._next = sequence
        self._early.setdefault(sequence, segment)
        self._join()
        if len(self._early) > _WAITING_MAX:
            self._skip()

    def end(self) -> None:
        while self._early and not self.is_lost:
            self._skip()

    def take(self) -> tuple[bytes, int] | None:
        """The next whole frame, without its size: what is known of its beginning, and its length.
        None if there is none yet."""
        if len(self._bytes) < 4 or self.is_lost:
            return None
        size = int.from_bytes(self._bytes[:4], "big", signed=True)
        if size < 0 or any(begin < 4 for begin, _ in self._holes):
            self.is_lost = True
            return None
        end = 4 + size
        if len(self._bytes) < end:
            return None
        known = min((begin for begin, _ in self._holes if begin < end), default=end)
        frame = bytes(self._bytes[4:known])
        del self._bytes[:end]
        cut = [(begin - end, stop - end) for begin, stop in self._holes]
        self._holes = [(max(0, begin), stop) for begin, stop in cut if stop > 0]
        return frame, size

    def _join(self) -> None:
        """Take over what is next, and what follows it."""
        while self._early:
            found = min(self._early, key=self._distance)
            if self._distance(found) > 0:
                return
            segment = self._early.pop(found)
            seen = -self._distance(found)
            payload = segment.payload[seen:]
            missing = segment.missing - max(0, seen - len(segment.payload))
            self._append(payload, max(0, missing))

    def _append(self, payload: bytes, missing: int) -> None:
        assert self._next is not None
        self._bytes += payload
        if missing:
            self._holes.append((len(self._bytes), len(self._bytes) + missing))
            self._bytes += bytes(missing)
        self._next = (self._next + len(payload) + missing) % _WRAP

    def _skip(self) -> None:
        """Give up what has not come, up to the next segment that has."""
        hole = self._distance(min(self._early, key=self._distance))
        if hole > _HOLE_MAX:
            self.is_lost = True
            return
        self._append(b"", hole)
        self._join()

    def _distance(self, sequence: int) -> int:
        """How far a sequence number is ahead of what is next; negative if it is behind."""
        assert self._next is not None
        ahead = (sequence - self._next) % _WRAP
        return ahead - _WRAP if ahead >= _HALF else ahead


KAFKAS_PORT = 9092
_VERSION_MAX = 100


@dataclass(slots=True, eq=False)
class _Connection:
    client: Address
    broker: Address
    peer: Peer | None = None
    asked: Stream = field(default_factory=Stream)
    answers: Stream = field(default_factory=Stream)
    open: dict[int, Exchange] = field(default_factory=dict)
    is_ended: bool = False
    is_other: bool = False
    """Whether it is not Kafka's."""


def read_capture(file: BinaryIO, port: int | None = None) -> Traffic:
    """The journal of what is in a capture. Raises NotAJournal."""
    reader = _Reader(port)
    last_ms = 0.0
    for packet in packets(file):
        segment = segment_of(packet)
        if segment is not None:
            last_ms = packet.time_ms
            reader.put(segment, packet.time_ms)
    reader.end(last_ms)
    return reader.traffic


class _Reader:
    def __init__(self, port: int | None) -> None:
        self.traffic = Traffic(inf, inf, sys.maxsize)  # a file has what it has
        self._port = port
        self._connections: dict[frozenset[Address], _Connection] = {}
        self._ended: list[_Connection] = []

    def put(self, segment: Segment, time_ms: float) -> None:
        ends = frozenset((segment.source, segment.target))
        found = self._connections.get(ends)
        is_new = segment.flags & (SYN | ACK) == SYN
        if found is None or (is_new and (found.is_ended or found.peer is not None)):
            if found is not None:
                self._ended.append(found)
            found = self._connections[ends] = self._begun(segment)
        is_client = segment.source == found.client
        (found.asked if is_client else found.answers).put(segment)
        found.is_ended |= bool(segment.flags & (FIN | RST))
        self._read(found, time_ms)

    def end(self, time_ms: float) -> None:
        for connection in [*self._ended, *self._connections.values()]:
            connection.asked.end()
            connection.answers.end()
            self._read(connection, time_ms)
            answered = [
                each.number for each in self._of(connection) if each.response_frame is not None
            ]
            for exchange in connection.open.values():
                if exchange.number < max(answered, default=0):
                    exchange.outcome = NO_REPLY
                else:
                    exchange.outcome = CLOSED if connection.is_ended else WAITING

    def _begun(self, segment: Segment) -> _Connection:
        source, target = segment.source, segment.target
        if self._port is not None:
            is_to_broker = target.port == self._port
        elif segment.flags & SYN:
            is_to_broker = not segment.flags & ACK
        elif KAFKAS_PORT in (source.port, target.port):
            is_to_broker = target.port == KAFKAS_PORT
        else:
            is_to_broker = target.port < source.port
        return _Connection(source, target) if is_to_broker else _Connection(target, source)

    def _read(self, connection: _Connection, time_ms: float) -> None:
        if connection.is_other:
            return
        while (taken := connection.asked.take()) is not None:
            self._request(connection, *taken, time_ms)
            if connection.is_other:
                return
        while (taken := connection.answers.take()) is not None:
            _answer(connection, *taken, time_ms)

    def _request(self, connection: _Connection, frame: bytes, size: int, time_ms: float) -> None:
        if connection.peer is None:
            if not _begins_request(frame):
                connection.is_other = True
                return
            connection.peer = self.traffic.peer(connection.client, connection.broker)
        exchange = self.traffic.begin(connection.peer, frame, int(time_ms))
        exchange.time_ms, exchange.request_size = time_ms, size
        connection.open[exchange.correlation_id] = exchange

    def _of(self, connection: _Connection) -> Iterator[Exchange]:
        return (each for each in self.traffic.exchanges if each.connection is connection.peer)


def _answer(connection: _Connection, frame: bytes, size: int, time_ms: float) -> None:
    exchange = connection.open.pop(int.from_bytes(frame[:4], "big", signed=True), None)
    if exchange is not None:  # else its request came before the capture began
        exchange.response_frame, exchange.response_size = frame, size
        exchange.duration_ms = max(0.0, time_ms - exchange.time_ms)
        exchange.outcome = ANSWERED


def _begins_request(frame: bytes) -> bool:
    try:
        header, _ = read_request_header(frame)
    except WireError:
        return False
    return header.api_key in API_MODULES and 0 <= header.api_version < _VERSION_MAX
