"""A journal as packets: each connection has its handshake, and its frames in segments.

Rules:
- A connection begins with a handshake before its first request, and ends where the broker closed
  it. Every packet acknowledges all that came before it.
- Brokers have the port that is given, 9092 by default, which Wireshark takes for Kafka without
  a setting; a comment at the handshake says the real one. Clients keep their port, unless another
  connection of the file has it.
- Of a frame that was not kept whole, the packets after its beginning have their length but no
  content: Wireshark shows them as cut.
- An answer's packet has a comment with the line of its exchange, since Wireshark does not know
  every version; rules that have applied are in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import BinaryIO

from ..exchange import CLOSED, MALFORMED, Address, Exchange, Peer
from . import blocks
from .packets import ACK, FIN, LONGEST, PSH, SYN, Segment, frame_of

_FIRST_FREE = 20_000
_LAST_PORT = 65_535
_WRAP = 1 << 32


class Capture:
    def __init__(self, file: BinaryIO, port: int | None, dropped: int = 0) -> None:
        self._file = file
        self._port = port
        self._streams: dict[Peer, _Stream] = {}
        self._taken: set[tuple[Address, Address]] = set()
        lost = f"{dropped} older requests are not in it" if dropped else ""
        blocks.begin(file, "odradek", lost, "journal")

    def began(self, exchange: Exchange) -> None:
        """Write its request."""
        stream, time_ms = self._stream(exchange), exchange.time_ms
        frame, size = exchange.request_frame, exchange.request_size
        stream.send(time_ms, frame, size, "", is_client=True)

    def ended(self, exchange: Exchange) -> None:
        """Write its answer, or that the connection is closed."""
        stream = self._stream(exchange)
        time_ms = exchange.time_ms + (exchange.duration_ms or 0.0)
        if exchange.response_frame is not None:
            frame, size = exchange.response_frame, exchange.response_size
            stream.send(time_ms, frame, size, str(exchange), is_client=False)
        elif exchange.outcome in (CLOSED, MALFORMED):
            stream.close(time_ms)

    def _stream(self, exchange: Exchange) -> _Stream:
        peer = exchange.connection
        stream = self._streams.get(peer)
        if stream is None:
            client, broker = self._ends(peer)
            stream = self._streams[peer] = _Stream(self._file, client, broker)
            stream.open(exchange.time_ms, str(peer))
        return stream

    def _ends(self, peer: Peer) -> tuple[Address, Address]:
        client, broker = peer.client, peer.broker
        if self._port is not None:
            broker = broker._replace(port=self._port)
        port = client.port or _FIRST_FREE
        while (client._replace(port=port), broker) in self._taken:
            port = port + 1 if port < _LAST_PORT else _FIRST_FREE
        client = client._replace(port=port)
        self._taken.add((client, broker))
        return client, broker


class _Stream:
    """One connection: what each end has sent."""

    def __init__(self, file: BinaryIO, client: Address, broker: Address) -> None:
        self._file = file
        self._ends = (client, broker)
        self._sent = [0, 0]  # sequence numbers of what comes next, the client's first
        self._is_closed = False

    def open(self, time_ms: float, comment: str) -> None:
        self._write(time_ms, 0, SYN, comment=comment)
        self._write(time_ms, 1, SYN | ACK)
        self._write(time_ms, 0, ACK)

    def send(
        self, time_ms: float, frame: bytes, size: int, comment: str, *, is_client: bool
    ) -> None:
        """Send a frame of `size` bytes of which these are known, its length before it."""
        total, first = size + 4, LONGEST - 4
        piece = size.to_bytes(4, "big") + frame[:first]
        for begin in range(0, total, LONGEST):
            if begin:
                piece = frame[begin - 4 : begin + first]
            missing = min(LONGEST, total - begin) - len(piece)
            flags = ACK | (PSH if begin + LONGEST >= total else 0)
            said = "" if begin else comment
            self._write(time_ms, 0 if is_client else 1, flags, piece, missing, said)

    def close(self, time_ms: float) -> None:
        """The broker closes it."""
        if not self._is_closed:
            self._is_closed = True
            self._write(time_ms, 1, FIN | ACK)

    def _write(
        self,
        time_ms: float,
        end: int,
        flags: int,
        payload: bytes = b"",
        missing: int = 0,
        comment: str = "",
    ) -> None:
        acknowledged = self._sent[1 - end] if flags & ACK else 0
        ends = self._ends[end], self._ends[1 - end]
        segment = Segment(*ends, self._sent[end], acknowledged, flags, payload, missing)
        data, size = frame_of(segment)
        blocks.write_packet(self._file, time_ms, data, size, comment)
        counted = len(payload) + missing + bool(flags & (SYN | FIN))
        self._sent[end] = (self._sent[end] + counted) % _WRAP


def write_capture(
    exchanges: Iterable[Exchange], file: BinaryIO, port: int | None, dropped: int
) -> None:
    """Write exchanges to a file, in the order in which it all happened."""
    capture = Capture(file, port, dropped)
    all_of_them = list(exchanges)
    events = [(each.time_ms, each.number, False, each) for each in all_of_them]
    events += [
        (each.time_ms + each.duration_ms, each.number, True, each)
        for each in all_of_them
        if each.duration_ms is not None
    ]
    events.sort(key=lambda event: event[:3])
    for _, _, is_end, exchange in events:
        if is_end:
            capture.ended(exchange)
        else:
            capture.began(exchange)
