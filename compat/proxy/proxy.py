"""ProxyServer: in front of any Kafka; it runs an event loop in a thread of its own.

Its methods may be called from any thread.

A listening port of the proxy for each broker, opened when the broker is first heard of.

The first port is the one that clients begin with; a broker that has the address which it leads to
has it, too. Others have those after it, in the order in which they are found, or any free ones if
the first was not chosen.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Self, TypeVar, cast

from ...emulator import parameters
from ...emulator.base.addresses import bracketed, parse_address, reachable
from ...emulator.base.event import Event
from ...emulator.base.journal import MOST_EVENTS, Journal
from ...emulator.base.logger import log
from ...emulator.broker_thread import new_event_loop
from ...emulator.control.rules.rules import Rules
from ...emulator.control.traffic.exchange import Address
from ...emulator.control.traffic.journal import RequestJournal
from ...emulator.control.traffic.traffic import Traffic
from ...emulator.net.listener import Listener
from ...emulator.net.network.network import Network
from ...emulator.net.protocol import bound
from ...wire import Refused
from ...wire.api.metadata import MetadataRequest
from ..wire_client.blocking_connection import Connection
from ..wire_client.waiting import Wait, polled, polled_async, seconds_of
from .client_end import LIMIT, ClientEnd
from .connection import ProxiedConnection
from .upstream import UpstreamCluster

_CONNECT_S = 10.0


class Ports:
    """Where a proxy listens, what each port leads to, and the clients there."""

    def __init__(
        self, behind: UpstreamCluster, host: str, port: int, advertised: str | None
    ) -> None:
        self.network = Network(self, asyncio.get_running_loop())
        self.protocols: dict[ClientEnd, None] = {}
        self._behind = behind
        self._host = host
        self._advertised = advertised or reachable(host)
        self._next = port
        self._listeners: list[Listener] = []
        self._local: dict[tuple[str, int], Address] = {}
        self._serving: set[asyncio.Task[None]] = set()

    @property
    def node_ids(self) -> Collection[int]:
        return sorted({each.node_id for each in self._listeners if each.node_id >= 0})

    @property
    def journal(self) -> Journal:
        """The proxy's."""
        return self._behind.journal

    def open(self, brokers: Sequence[tuple[str, int]], node_id: int = -1) -> Address:
        """Listen, and lead to the first of these that can be reached. Raises OSError."""
        sock = bound(self._host, self._next)
        port = sock.getsockname()[1]

        def begin(end: ClientEnd) -> None:
            task = asyncio.create_task(self._serve(end, brokers))
            self._serving.add(task)
            task.add_done_callback(self._serving.discard)

        def accepted(address: str) -> ClientEnd:
            return ClientEnd(node_id, self.network, self.protocols, begin)

        listener = Listener(sock, _AnyNumber(), accepted, node_id)
        self._listeners.append(listener)
        for fault in self.network.faults:
            if fault.effect.refuses and fault.is_at(node_id):
                listener.refuse(fault)
        if self._next:
            self._next += 1
        return Address(self._advertised, port)

    def lead(self, address: tuple[str, int], local: Address) -> None:
        """A broker's address is reached by this port."""
        self._local[address] = local

    def local(self, node_id: int, host: str, port: int) -> Address:
        """The proxy's address in place of a broker's. Raises OSError."""
        found = self._local.get((host, port))
        if found is None:
            found = self._local[host, port] = self.open([(host, port)], node_id)
        return found

    def refuse(self, reason: object, is_at: Callable[[int], bool]) -> None:
        """Refuse new connections to these brokers until `accept_again` for the same reason. Raises
        OSError."""
        for listener in self._listeners:
            if is_at(listener.node_id):
                listener.refuse(reason)

    def accept_again(self, reason: object) -> None:
        """For this reason no connection is refused any more. Raises OSError."""
        for listener in self._listeners:
            listener.accept_again(reason)

    async def close(self) -> None:
        for listener in self._listeners:
            await listener.close()
        for end in list(self.protocols):
            end.abort()
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    async def _serve(self, end: ClientEnd, brokers: Sequence[tuple[str, int]]) -> None:
        try:
            reached = await _reach(brokers)
            if reached is None:
                return
            addresses = Address(*end.address("peername")), Address(*end.address("sockname"))
            peer = self._behind.traffic.peer(*addresses, end.node_id)
            await ProxiedConnection(self._behind, peer, end, reached[1], self.local).run(reached[0])
        finally:
            end.close()


class _AnyNumber:
    """Nobody is refused, and nobody waits, for being one too many."""

    has_slot = True

    def delay_ms(self, now: int) -> int:
        """It is let in at once."""
        return 0

    def refusal_ms(self, address: str) -> int | None:
        """It stays."""
        return None

    def left(self, address: str) -> None:
        """Nobody counts them."""


async def _reach(
    brokers: Sequence[tuple[str, int]],
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
    """A connection to the first that can be reached."""
    for host, port in brokers:
        try:
            async with asyncio.timeout(_CONNECT_S):
                return await asyncio.open_connection(host, port, limit=LIMIT)
        except (OSError, TimeoutError) as error:
            log.warning("%s:%d cannot be reached: %s", bracketed(host), port, error)
    return None


T = TypeVar("T")
_METADATA = 12
_TIMEOUT_S = 10.0
_NOT_RUNNING = "the proxy is not running: call start(), or use `with Proxy(...) as proxy:`"


class ProxyServer:
    """A proxy to the Kafka at `to`: "HOST:PORT", several with commas.

    host, port   where to listen; port 0 is any free one. Further brokers have the ports after it
    advertised   the host that clients are given, if it is another
    journal      whether `journal` keeps every request from the start on
    max_events   how many of the last events are kept for `events` and `timeline`
    timeout      how long the Kafka may take to answer at the start, in seconds

    Raises ValueError or TypeError for an invalid argument; `start` raises ConnectionError if there
    is no Kafka, OSError if it cannot listen.
    """

    def __init__(
        self,
        to: str,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        advertised: str | None = None,
        journal: bool = False,
        max_events: int = MOST_EVENTS,
        timeout: float = _TIMEOUT_S,
    ) -> None:
        if not isinstance(to, str):
            raise TypeError(f"to is a str, HOST:PORT, several with commas, not {to!r}")
        self._to = [parse_address(each.strip()) for each in to.split(",")]
        self._host, self._port = parameters.listener(host, port)
        self._advertised = advertised
        self._timeout = timeout
        traffic = Traffic()
        self._behind = UpstreamCluster(traffic, parameters.max_events(max_events))
        self._rules = Rules()
        self._rules.attach(cast(Any, self._behind))
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._bootstrap: Address | None = None
        self._ports: Ports | None = None
        self._waits = _Waits(timeout)
        self._requests = RequestJournal(_Host(self, self._behind))
        if journal:
            self._requests.start()

    def __repr__(self) -> str:
        to = ",".join(f"{bracketed(host)}:{port}" for host, port in self._to)
        return f"<Proxy at {self._bootstrap or 'no port'} to {to}>"

    # Starting and stopping

    def start(self) -> Self:
        """Find the brokers, and listen for each. Returns when connections are accepted. Raises
        RuntimeError if it is running already, ConnectionError, OSError."""
        if self._thread is not None:
            raise RuntimeError("the proxy is running already")
        brokers = self._brokers()
        self._forget_faults()
        ready: Future[Address] = Future()
        self._loop = new_event_loop()
        self._stopping = asyncio.Event()
        self._thread = threading.Thread(
            target=self._run, args=(brokers, ready), name="odradek-proxy", daemon=True
        )
        self._thread.start()
        try:
            self._bootstrap = ready.result()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Close every connection, and end its thread. Does nothing if it is not running."""
        thread, self._thread = self._thread, None
        if thread is None or self._loop is None:
            return
        if thread.is_alive() and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._stopping.set)
        thread.join()
        self._bootstrap = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                self._check_end()
        finally:
            self.stop()

    async def __aenter__(self) -> Self:
        return await asyncio.to_thread(self.start)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # Not in a thread: stopping takes milliseconds, and a thread could outlive the loop.
        self.__exit__(kind, error, traceback)

    # For tests

    @property
    def bootstrap_servers(self) -> str:
        """The value of a client's `bootstrap.servers`. Raises RuntimeError if it is not
        running."""
        if self._bootstrap is None:
            raise RuntimeError(_NOT_RUNNING)
        return str(self._bootstrap)

    @property
    def journal(self) -> RequestJournal:
        """Every request that has passed, and its answer; off until `journal.start()`."""
        return self._requests

    @property
    def events(self) -> list[Event]:
        """The events on the way, in order: clients, their commits, what was refused."""
        return self._call(self._behind.journal.events)

    def timeline(self) -> str:
        """The events in sentences, a line each."""
        return "\n".join(map(str, self.events))

    def tell(self, told: Callable[[Event], None]) -> None:
        """Call this with each event as it happens, in the proxy's thread."""
        self._behind.journal.on_event = told

    def run(self, action: Callable[[Any], T]) -> T:
        """Call `action` in the proxy's thread, with what it knows of the cluster behind it: its
        `chain` takes steps (base/chain.py). Raises RuntimeError if it is not running."""
        if self._bootstrap is None:
            raise RuntimeError(_NOT_RUNNING)
        return self._call(lambda: action(self._behind))

    def _call(self, action: Callable[[], T]) -> T:
        loop = self._loop
        if self._bootstrap is None or loop is None or threading.current_thread() is self._thread:
            return action()
        done: Future[T] = Future()

        def carry_out() -> None:
            try:
                done.set_result(action())
            except BaseException as error:
                done.set_exception(error)

        loop.call_soon_threadsafe(carry_out)
        return done.result()

    def _at_ports(self, action: Callable[[Ports], Any]) -> Any:
        return self.run(lambda _: action(cast(Ports, self._ports)))

    def _forget_faults(self) -> None:
        """A start: faults of the run before have no effect on it."""

    def _check_end(self) -> None:
        """The end of a `with` that has raised nothing."""

    @property
    def is_running(self) -> bool:
        """Whether it accepts connections."""
        return self._bootstrap is not None

    # The thread

    def _brokers(self) -> list[tuple[int, str, int]]:
        """Each broker's id and address, as the Kafka tells them. Raises ConnectionError."""
        failure: Exception | None = None
        for host, port in self._to:
            try:
                connection = Connection(host, port, self._timeout)
            except ConnectionError as error:
                failure = error
                continue
            try:
                version = connection.version(MetadataRequest, _METADATA)
                answer = connection.ask(MetadataRequest(topics=[]), version)
            except Refused as error:
                raise ConnectionError(str(error)) from None
            finally:
                connection.close()
            return sorted((each.node_id, each.host, each.port) for each in answer.brokers)
        assert failure is not None
        raise failure

    def _run(self, brokers: list[tuple[int, str, int]], ready: Future[Address]) -> None:
        assert self._loop is not None
        try:
            self._loop.run_until_complete(self._serve(brokers, ready))
        except BaseException as error:
            if ready.done():
                raise
            ready.set_exception(error)
        finally:
            self._loop.close()

    async def _serve(self, brokers: list[tuple[int, str, int]], ready: Future[Address]) -> None:
        self._ports = ports = Ports(self._behind, self._host, self._port, self._advertised)
        try:
            same = [each for each in brokers if _is_same(each[1:], self._to[0])]
            first = ports.open(self._to, same[0][0] if same else -1)
            for _node_id, host, port in same:
                ports.lead((host, port), first)
            for each in brokers:
                ports.local(*each)
            ready.set_result(first)
            await self._stopping.wait()
        finally:
            self._behind.is_over = True
            await ports.close()


class _Waits:
    def __init__(self, timeout: float) -> None:
        self._timeout = timeout

    def wait(self, wait: Wait[T], timeout: float | None = None) -> T:
        __tracebackhide__ = True
        return polled(wait, seconds_of("timeout", timeout, self._timeout))

    async def wait_async(self, wait: Wait[T], timeout: float | None = None) -> T:
        __tracebackhide__ = True
        return await polled_async(wait, seconds_of("timeout", timeout, self._timeout))


class _Host:
    def __init__(self, proxy: ProxyServer, behind: UpstreamCluster) -> None:
        self.traffic = behind.traffic
        self._proxy = proxy
        self._behind = behind

    def in_its_thread(self, action: Callable[[], T]) -> T:
        return self._proxy._call(action)

    def keep_traffic(self, is_on: bool) -> None:
        self._behind.keeps_traffic = is_on

    def known_topics(self) -> dict[bytes, str]:
        return {}


def _is_same(one: tuple[str, int], other: tuple[str, int]) -> bool:
    """Whether two addresses are of one broker."""
    return one[1] == other[1] and (
        one[0] == other[0] or bool(_numbers(one[0]) & _numbers(other[0]))
    )


def _numbers(host: str) -> set[Any]:
    """The addresses of a host; none if it is not known."""
    try:
        return {each[4][0] for each in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
    except OSError:
        return set()
