"""A listening port of the proxy for each broker, opened when the broker is first heard of.

The first port is the one that clients begin with; a broker that has the address which it leads to
has it, too. Others have those after it, in the order in which they are found, or any free ones if
the first was not chosen.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence

from ..base.addresses import bracketed, reachable
from ..base.logger import log
from ..control.traffic.peer import Address
from .behind import Behind
from .connection import ProxiedConnection

_LIMIT = 1 << 20
_CONNECT_S = 10.0


class Ports:
    """Where a proxy listens, and what each port leads to."""

    def __init__(self, behind: Behind, host: str, port: int, advertised: str | None) -> None:
        self._behind = behind
        self._host = host
        self._advertised = advertised or reachable(host)
        self._next = port
        self._servers: list[asyncio.Server] = []
        self._local: dict[tuple[str, int], Address] = {}
        self._opening = asyncio.Lock()
        self._connections: set[asyncio.Task[None]] = set()

    async def open(self, brokers: Sequence[tuple[str, int]], node_id: int = -1) -> Address:
        """Listen, and lead to the first of these that can be reached. Raises OSError."""

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.create_task(self._serve(reader, writer, brokers, node_id))
            self._connections.add(task)
            task.add_done_callback(self._connections.discard)

        server = await asyncio.start_server(accept, self._host, self._next, limit=_LIMIT)
        self._servers.append(server)
        port = server.sockets[0].getsockname()[1]
        if self._next:
            self._next += 1
        local = Address(self._advertised, port)
        for each in brokers:
            self._local.setdefault(each, local)
        return local

    def lead(self, address: tuple[str, int], local: Address) -> None:
        """A broker's address is reached by this port."""
        self._local[address] = local

    async def local(self, node_id: int, host: str, port: int) -> Address:
        """The proxy's address in place of a broker's. Raises OSError."""
        async with self._opening:
            found = self._local.get((host, port))
            if found is None:
                found = await self.open([(host, port)], node_id)
            return found

    async def close(self) -> None:
        """Stop listening, and close every connection."""
        for server in self._servers:
            server.close()
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _serve(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        brokers: Sequence[tuple[str, int]],
        node_id: int,
    ) -> None:
        try:
            reached = await _reach(brokers)
            if reached is None:
                return
            no_delay(writer)
            no_delay(reached[1])
            client, local = writer.get_extra_info("peername"), writer.get_extra_info("sockname")
            peer = self._behind.traffic.peer(Address(*client[:2]), Address(*local[:2]), node_id)
            one = ProxiedConnection(self._behind, peer, writer, reached[1], self.local)
            await one.run(reader, reached[0])
        finally:
            writer.close()


def no_delay(writer: asyncio.StreamWriter) -> None:
    """Send what is written at once."""
    sock = writer.get_extra_info("socket")
    if sock is not None:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


async def _reach(
    brokers: Sequence[tuple[str, int]],
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
    """A connection to the first that can be reached."""
    for host, port in brokers:
        try:
            async with asyncio.timeout(_CONNECT_S):
                return await asyncio.open_connection(host, port, limit=_LIMIT)
        except (OSError, TimeoutError) as error:
            log.warning("%s:%d cannot be reached: %s", bracketed(host), port, error)
    return None
