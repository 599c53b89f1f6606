"""Traffic: the last requests and answers of a broker, in memory, within bounds.

Rules:
- It is filled in the broker's thread, and read there too, or when that has ended.
- Once there are `most` exchanges, or `most_bytes` of frames, the oldest are dropped, and counted.
- Of a frame longer than `frame_bytes` only the beginning is kept: its exchange says how long it
  was, but cannot decode it.
- `sink` gets each exchange when it begins and when it ends, for a file that is written while
  the broker runs. Such a sink never raises.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from io import BytesIO
from typing import Protocol

from ....wire import Buffer, WireError
from ....wire.api.api_versions import ApiVersionsRequest
from ....wire.api.create_topics import CreateTopicsRequest
from ....wire.api.metadata import MetadataRequest
from ....wire.frames import Part, pieces
from ....wire.headers import RequestHeader, read_request_header
from ...base.call import ClientSoftware
from ...base.real_time import wall_time
from .exchange import ANSWERED, CLOSED, MALFORMED, WAITING, Address, Exchange, Peer, ids_of

MOST = 10_000
MOST_BYTES = 64 << 20
FRAME_BYTES = 1 << 20
_SOFTWARE_SINCE = 3
_NAMING = (MetadataRequest.api_key, CreateTopicsRequest.api_key)
_PIECE = 1 << 20


class Sink(Protocol):
    """Gets exchanges as they happen."""

    def began(self, exchange: Exchange) -> None: ...

    def ended(self, exchange: Exchange) -> None: ...


class Traffic:
    """The last exchanges, the oldest first."""

    def __init__(
        self,
        most: float = MOST,
        most_bytes: float = MOST_BYTES,
        frame_bytes: int = FRAME_BYTES,
    ) -> None:
        self.exchanges: deque[Exchange] = deque()
        self.topic_names: dict[bytes, str] = {}
        self.dropped = 0
        self.sink: Sink | None = None
        self.bound(most, most_bytes, frame_bytes)
        self._bytes = 0
        self._number = 0
        self._peers = 0

    def bound(self, most: float, most_bytes: float, frame_bytes: int) -> None:
        self._most, self._most_bytes, self._frame_bytes = most, most_bytes, frame_bytes

    def peer(self, client: Address, broker: Address, node_id: int = -1) -> Peer:
        """A new connection."""
        self._peers += 1
        return Peer(self._peers, client, broker, node_id, topic_names=self.topic_names)

    def begin(self, peer: Peer, frame: Buffer, clock_ms: int | None = None) -> Exchange:
        """A request is taken up: the bytes of its frame, without the size."""
        header, reason = _header(frame)
        now = wall_time() * 1000
        self._number += 1
        exchange = Exchange(
            self._number,
            peer,
            header.api_key,
            header.api_version,
            header.correlation_id,
            header.client_id,
            now,
            int(now) if clock_ms is None else clock_ms,
            bytes(memoryview(frame)[: self._frame_bytes]),
            len(frame),
            reason=reason,
        )
        if header.api_key == ApiVersionsRequest.api_key and header.api_version >= _SOFTWARE_SINCE:
            _learn_software(peer, exchange)
        self._bytes += len(exchange.request_frame)
        self.exchanges.append(exchange)
        self._drop()
        if self.sink is not None:
            self.sink.began(exchange)
        return exchange

    def answered(self, exchange: Exchange, parts: Sequence[Part]) -> None:
        """Its answer is on its way: its bytes, header first, without the size."""
        size = sum(map(len, parts))
        exchange.response_frame = _beginning(parts, min(size, self._frame_bytes))
        exchange.response_size = size
        if exchange.is_kept:
            self._bytes += len(exchange.response_frame)
        self.end(exchange, ANSWERED)
        self._drop()

    def end(self, exchange: Exchange, outcome: str) -> None:
        exchange.outcome = outcome
        exchange.duration_ms = max(0.0, wall_time() * 1000 - exchange.time_ms)
        if self.sink is not None:
            self.sink.ended(exchange)

    def malformed(self, peer: Peer, frame: Buffer, reason: str, clock_ms: int) -> None:
        exchange = self.begin(peer, frame, clock_ms)
        exchange.reason = reason
        self.end(exchange, MALFORMED)

    def closed(self) -> None:
        for exchange in self.exchanges:
            if exchange.outcome == WAITING:
                self.end(exchange, CLOSED)

    def clear(self) -> None:
        for exchange in self.exchanges:
            exchange.is_kept = False
        self.exchanges.clear()
        self.dropped = self._bytes = 0

    def learn_topics(self) -> None:
        """Learn the names of topic ids from the answers that have both."""
        for exchange in self.exchanges:
            if exchange.api_key in _NAMING and (response := exchange.response) is not None:
                self.topic_names.update(ids_of(response))

    def _drop(self) -> None:
        exchanges = self.exchanges
        while len(exchanges) > self._most or (
            self._bytes > self._most_bytes and len(exchanges) > 1
        ):
            oldest = exchanges.popleft()
            oldest.is_kept = False
            self._bytes -= len(oldest.request_frame) + len(oldest.response_frame or b"")
            self.dropped += 1


def _header(frame: Buffer) -> tuple[RequestHeader, str]:
    try:
        return read_request_header(frame)[0], ""
    except WireError as error:
        return RequestHeader(-1, -1, -1, ""), str(error)


def _learn_software(peer: Peer, exchange: Exchange) -> None:
    request = exchange.request
    if request is not None and request.client_software_name:
        peer.software = ClientSoftware(
            request.client_software_name, request.client_software_version
        )


def _beginning(parts: Sequence[Part], size: int) -> bytes:
    """The first bytes of what is sent, copied: records may stay where they are stored."""
    kept = BytesIO()  # whose value is no second copy
    for piece in pieces(parts, lambda: _PIECE):
        kept.write(memoryview(piece)[: size - kept.tell()])
        if kept.tell() == size:
            break
    return kept.getvalue()
