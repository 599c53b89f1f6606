"""Player: sends the requests of a journal to a broker, and looks at the answers.

Rules:
- Each recorded connection is one again; its requests go one after another, each once the one before
  is answered, as a broker serves them.
- A request begins when all that was over before it is over, and not before its time, so
  many times as fast as recorded.
- What is refused because the broker is not ready yet, and was not refused then, is asked again.
- What a client waited for in vain then is not waited for now. A connection that ends is opened anew
  for the next request.
- A request of which only the beginning was kept cannot be sent, and such an answer is not compared.
- Of several brokers, each is asked what the one with its node id was asked; others go to the first.

How a new answer differs from the recorded one: in its errors, and in what they are about.

Ids, times, offsets and records differ for good reasons and are not compared; that a fetch finds
fewer records or more shows in the exchange that comes after it.

Errors of a broker that is not ready yet: clients ask again, and so does a replay, for a while.

A real broker that has just started, or created a topic, answers so for moments that were over when
the journal was recorded. Not so a request of which a part was carried out: it would be done twice.

Order: what was over before a request began is over before it begins again.

Requests that overlapped may overlap again; so members that wait for each other still do.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ...emulator.base.real_time import monotonic
from ...emulator.control.refusals import refusals
from ...emulator.control.traffic.exchange import ANSWERED, MALFORMED, Exchange
from ...wire import Error, Response, WireError
from ...wire.api import API_MODULES, response_class
from ...wire.api.produce import ProduceRequest, ProduceResponse
from ...wire.headers import API_VERSIONS, read_request_header, read_response_header
from .ids import Ids


def difference(was: Response | None, now: Response | None) -> str:
    """The difference, "" if there is none. None is no answer."""
    if was is None or now is None:
        return "" if was is now else f"{_named(was)} then, {_named(now)} now"
    before, after = _errors(was), _errors(now)
    if before == after:
        return ""
    return f"{_listed(before)} then, {_listed(after)} now"


def _named(response: Response | None) -> str:
    return "no answer" if response is None else "an answer"


def _errors(response: Response) -> Counter[str]:
    return Counter(
        each.error.name + (f" for {each.topic}-{each.partition}" if each.topic else "")
        for each in refusals(response)
    )


def _listed(errors: Counter[str]) -> str:
    return ", ".join(sorted(errors)) or "no error"


_LONG, _SHORT = 10.0, 1.0
_SECONDS = {
    Error.CONCURRENT_TRANSACTIONS: _LONG,
    Error.COORDINATOR_LOAD_IN_PROGRESS: _LONG,
    Error.COORDINATOR_NOT_AVAILABLE: _LONG,
    Error.LEADER_NOT_AVAILABLE: _LONG,
    Error.NOT_COORDINATOR: _SHORT,
    Error.NOT_ENOUGH_REPLICAS: _SHORT,
    Error.NOT_LEADER_OR_FOLLOWER: _SHORT,
    Error.UNKNOWN_TOPIC_OR_PARTITION: _SHORT,
    Error.UNKNOWN_TOPIC_ID: _SHORT,
}


def seconds_to_try(was: Response, now: Response | None) -> float:
    """For how long to ask again; 0 if the answer stands."""
    if now is None or refusals(was):
        return 0.0
    errors = [each.error for each in refusals(now)]
    if isinstance(now, ProduceResponse):
        asked = sum(len(topic.partition_responses) for topic in now.responses)
        if len(errors) < asked:
            return 0.0
    return min((_SECONDS.get(error, 0.0) for error in errors), default=0.0)


class Order:
    """The ends of all requests, in the order in which they were recorded."""

    def __init__(self, exchanges: Sequence[Exchange]) -> None:
        ended = sorted(
            (each.time_ms + each.duration_ms, each.number)
            for each in exchanges
            if each.duration_ms is not None
        )
        self._ends = [end for end, _ in ended]
        self._places = {number: place for place, (_, number) in enumerate(ended)}
        self._is_over = [False] * len(ended)
        self._over = 0  # of the first so many, all are over
        self._changed = asyncio.Condition()

    async def begin(self, exchange: Exchange) -> None:
        """Wait until all that was over when it began is over."""
        before = bisect_right(self._ends, exchange.time_ms)
        place = self._places.get(exchange.number)
        if place is not None:  # one that took no time is not over before itself
            before = min(before, place)
        async with self._changed:
            await self._changed.wait_for(lambda: self._over >= before)

    async def end(self, exchange: Exchange) -> None:
        place = self._places.get(exchange.number)
        if place is None:
            return
        async with self._changed:
            self._is_over[place] = True
            while self._over < len(self._is_over) and self._is_over[self._over]:
                self._over += 1
            self._changed.notify_all()


_OLDEST = 0
_AGAIN_S = 0.05
Address = tuple[str, int]


@dataclass(slots=True)
class Played:
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
