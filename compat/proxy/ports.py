"""A listening port of the proxy for each broker, opened when the broker is first heard of.

The first port is the one that clients begin with; a broker that has the address which it leads to
has it, too. Others have those after it, in the order in which they are found, or any free ones if
the first was not chosen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence

from ...emulator.base.addresses import bracketed, reachable
from ...emulator.base.journal import Journal
from ...emulator.base.logger import log
from ...emulator.control.traffic.exchange import Address
from ...emulator.net.listener import Listener
from ...emulator.net.network.network import Network
from ...emulator.net.protocol import bound
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
        """The brokers that have a port."""
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
        """Stop listening, and close every connection."""
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
