"""Player: sends the requests of a journal to a broker, and looks at the answers.

Rules:
- Each recorded connection is one again; its requests go one after another, each once the one before
  is answered, as a broker serves them.
- A request begins when all that was over before it is over (order.py), and not before its time, so
  many times as fast as recorded.
- What is refused because the broker is not ready yet, and was not refused then, is asked again
  (not_ready.py).
- What a client waited for in vain then is not waited for now. A connection that ends is opened anew
  for the next request.
- A request of which only the beginning was kept cannot be sent, and such an answer is not compared.
- Of several brokers, each is asked what the one with its node id was asked; others go to the first.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ...emulator.base.real_time import monotonic
from ...emulator.control.traffic.exchange import ANSWERED, MALFORMED, Exchange
from ...wire import Error, Response, WireError
from ...wire.api import API_MODULES, response_class
from ...wire.api.produce import ProduceRequest
from ...wire.headers import API_VERSIONS, read_request_header, read_response_header
from .differences import difference
from .ids import Ids
from .not_ready import seconds_to_try
from .order import Order

_OLDEST = 0
_AGAIN_S = 0.05
Address = tuple[str, int]


@dataclass(slots=True)
class Played:
    """A request that was sent again, or could not be."""

    exchange: Exchange
    response: Response | None = None
    difference: str = ""

    def __str__(self) -> str:
        one = self.exchange
        of = f" of {', '.join(one.topics[:3])}" if one.topics else ""
        asked = f"#{one.number} {one.api} v{one.version}{of} from {one.client_id or '-'}"
        return f"{asked}: {self.difference}"


class Player:
    """One replay. `brokers`: where each node id is asked, `first` any other."""

    def __init__(
        self,
        exchanges: Sequence[Exchange],
        ids: Ids,
        first: Address,
        brokers: Mapping[int, Address],
        speed: float,
        timeout: float,
    ) -> None:
        self._exchanges = [each for each in exchanges if each.api_key in API_MODULES]
        self._ids = ids
        self._first = first
        self._brokers = brokers
        self._speed = speed
        self._timeout = timeout
        self.played: list[Played] = []

    async def play(self) -> None:
        """Send everything. Raises OSError if a broker cannot be reached at first."""
        self._order = Order(self._exchanges)
        self._begin_ms = min((each.time_ms for each in self._exchanges), default=0.0)
        self._begin = monotonic()
        by_connection = defaultdict(list)
        for each in self._exchanges:
            by_connection[each.connection.number].append(each)
        lines = [self._connection(some) for some in by_connection.values()]
        await asyncio.gather(*lines)
        self.played.sort(key=lambda each: each.exchange.number)

    async def _connection(self, exchanges: Sequence[Exchange]) -> None:
        peer = exchanges[0].connection
        line = _Line(self._brokers.get(peer.node_id, self._first))
        try:
            for exchange in exchanges:
                await self._order.begin(exchange)
                await self._until(exchange.time_ms)
                self.played.append(await self._one(line, exchange))
                await self._order.end(exchange)
        finally:
            line.close()

    async def _until(self, time_ms: float) -> None:
        due = self._begin + (time_ms - self._begin_ms) / 1000 / self._speed
        await asyncio.sleep(max(0.0, due - monotonic()))

    async def _one(self, line: _Line, exchange: Exchange) -> Played:
        if len(exchange.request_frame) < exchange.request_size:
            return Played(exchange, None, "not sent: only its beginning was kept")
        was, request = exchange.response, exchange.request
        node_id = exchange.connection.node_id
        frame = self._frame(exchange)
        is_waited_for = exchange.outcome in (ANSWERED, MALFORMED)
        if isinstance(request, ProduceRequest) and not request.acks:
            is_waited_for = False
        try:
            found = await self._asked(line, frame, exchange, is_waited_for=is_waited_for)
        except (OSError, EOFError, TimeoutError) as error:
            line.close()
            said = "" if exchange.outcome == MALFORMED else f"no answer now: {_said(error)}"
            return Played(exchange, None, said)
        if not is_waited_for:
            return Played(exchange)
        now = _decoded(found, exchange)
        if request is not None and was is not None and now is not None:
            self._ids.learn(request, was, now, node_id)
        is_whole = len(exchange.response_frame or b"") == exchange.response_size
        return Played(exchange, now, difference(was, now) if is_whole else "")

    async def _asked(
        self, line: _Line, frame: bytes, exchange: Exchange, *, is_waited_for: bool
    ) -> bytes:
        """Ask, and as long as the broker is not ready, ask again. Raises OSError, EOFError,
        TimeoutError."""
        begin, expected = monotonic(), exchange.response
        while True:
            async with asyncio.timeout(self._timeout):
                found: bytes = await line.ask(frame, exchange, is_waited_for=is_waited_for)
            if not is_waited_for or expected is None:
                return found
            if monotonic() - begin >= seconds_to_try(expected, _decoded(found, exchange)):
                return found
            await asyncio.sleep(_AGAIN_S)

    def _frame(self, exchange: Exchange) -> bytes:
        """The request for the new broker: as it was, if it cannot be decoded."""
        request = exchange.request
        if request is None:
            return exchange.request_frame
        self._ids.put_into(request, exchange.connection.node_id)
        _, pos = read_request_header(exchange.request_frame)
        try:
            body: bytes = request.encode(exchange.version)
        except WireError:
            return exchange.request_frame
        return exchange.request_frame[:pos] + body


class _Line:
    """A connection to a broker, opened when it is first needed, and again when it has ended."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, frame: bytes, exchange: Exchange, *, is_waited_for: bool) -> bytes:
        """Send a request; return its answer, or b"" if none is waited for. Raises OSError,
        EOFError."""
        if self._streams is None:
            self._streams = await asyncio.open_connection(*self._address)
        reader, writer = self._streams
        writer.write(len(frame).to_bytes(4, "big") + frame)
        await writer.drain()
        if not is_waited_for:
            return b""
        while True:
            size = int.from_bytes(await reader.readexactly(4), "big")
            answer = await reader.readexactly(size)
            if int.from_bytes(answer[:4], "big", signed=True) == exchange.correlation_id:
                return answer  # others answer what was not waited for

    def close(self) -> None:
        """Close it, if it is open."""
        if self._streams is not None:
            with suppress(OSError):
                self._streams[1].close()
            self._streams = None


def _decoded(frame: bytes, exchange: Exchange) -> Any:
    version = exchange.version
    if exchange.api_key == API_VERSIONS:
        is_refused = int.from_bytes(frame[4:6], "big") == Error.UNSUPPORTED_VERSION
        version = _OLDEST if is_refused else version
    try:
        _, pos = read_response_header(frame, exchange.api_key, version)
        return response_class(exchange.api_key).decode(frame, version, pos)
    except WireError:
        return None


def _said(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "the time was over"
    if isinstance(error, EOFError):
        return "the broker closed the connection"
    return str(error)
