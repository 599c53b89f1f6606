"""A listening socket of one broker.

How many connections there may be is up to its Admission (connections.py): who comes when there is
no slot is connected, and nothing it sends is read until there is one.

When the process has no descriptor left, that is said in one line, and again only after a while;
clients wait in the backlog meanwhile. Connections are accepted here and not by the event loop's own
servers, because asyncio's log a traceback each time, and uvloop's close such clients without a
word.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Protocol

from ..base.logger import log

if TYPE_CHECKING:
    from .tls import ListenerTls

BACKLOG = 1024
_AT_ONCE = 32  # accepted in one round of the event loop
_AGAIN_S = 0.1
_SAY_AGAIN_S = 10.0


class Admission(Protocol):
    @property
    def has_slot(self) -> bool: ...

    def delay_ms(self, now: int) -> int:
        """One has come, at this moment of a clock of ms: for how long it is not let in."""
        ...

    def refusal_ms(self, address: str) -> int | None:
        """One from this address is let in: None if it stays, or in how many ms it is closed."""
        ...

    def left(self, address: str) -> None:
        """One has ended."""


class Listener:
    """Accepts connections on a bound socket, until it is closed."""

    def __init__(
        self,
        sock: socket.socket,
        connections: Admission,
        new_protocol: Callable[[str], asyncio.BaseProtocol],
        node_id: int,
        tls: ListenerTls | None = None,
    ) -> None:
        self.node_id = node_id
        self._tls = tls
        self._socket = sock
        self._connections = connections
        self._new_protocol = new_protocol
        self._loop = asyncio.get_running_loop()
        # Accepted, and not read before there is a slot for it.
        self._held: tuple[socket.socket, str] | None = None
        self._held_until = 0.0
        self._refused: dict[socket.socket, asyncio.TimerHandle] = {}  # until they are closed
        self._again: asyncio.TimerHandle | None = None
        self._beginning: set[asyncio.Task[None]] = set()
        self._silent_until = 0.0
        self._refuses: set[object] = set()  # why it refuses connections
        sock.listen(BACKLOG)
        sock.setblocking(False)
        self._loop.add_reader(sock, self._accept)

    @property
    def descriptor(self) -> int:
        """That of the listening socket; -1 once it is closed."""
        return self._socket.fileno()

    def refuse(self, reason: object) -> None:
        """Refuse connections until `accept_again` for the same reason, those in the backlog too,
        and keep the port: the socket stays bound, and nobody else may bind it, not even with
        SO_REUSEADDR. As Linux has it; raises OSError where a listening socket cannot be shut
        down."""
        if not self._refuses:
            self._socket.shutdown(socket.SHUT_RDWR)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
            self._forget()
        self._refuses.add(reason)

    def accept_again(self, reason: object) -> None:
        """Accept connections at the same port, unless there is another reason to refuse them.
        Raises OSError."""
        if reason in self._refuses:
            self._refuses.discard(reason)
            if not self._refuses:
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                self._socket.listen(BACKLOG)
                self._loop.add_reader(self._socket, self._accept)

    def _forget(self) -> None:
        """Who waits to be let in is not, nor who has not agreed on TLS."""
        if self._tls is not None:
            for task in self._beginning:
                task.cancel()
        self._loop.remove_reader(self._socket)
        if self._again is not None:
            self._again.cancel()
        if self._held is not None:
            self._held[0].close()
            self._held = None
        for client in list(self._refused):
            self._close_refused(client)

    def shut(self) -> None:
        self._forget()
        self._socket.close()

    async def close(self) -> None:
        """Accept nothing more, and wait for those who were about to come."""
        self.shut()
        # A transport that is left half-way would never tell its protocol that it has ended.
        await asyncio.gather(*self._beginning, return_exceptions=True)

    def _accept(self) -> None:
        for _ in range(_AT_ONCE):
            try:
                client, peer = self._socket.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                self._say(error)
                self._wait()
                return
            client.setblocking(False)
            self._held = client, str(peer[0])
            now = self._loop.time()
            self._held_until = now + self._connections.delay_ms(int(now * 1000)) / 1000
            if not self._let_in():
                self._wait()
                return

    def _wait(self) -> None:
        self._loop.remove_reader(self._socket)
        self._look_again()

    def _look_again(self) -> None:
        soon = self._held_until - self._loop.time()
        self._again = self._loop.call_later(soon if soon > 0 else _AGAIN_S, self._go_on)

    def _go_on(self) -> None:
        if self._let_in():
            self._loop.add_reader(self._socket, self._accept)
        else:
            self._look_again()

    def _let_in(self) -> bool:
        """Connect the client that is held, or refuse it. Returns whether another may come."""
        if self._held is None:
            return True
        if self._loop.time() < self._held_until or not self._connections.has_slot:
            return False
        (client, address), self._held = self._held, None
        refusal_ms = self._connections.refusal_ms(address)
        if refusal_ms is None:
            task = self._loop.create_task(self._connect(client, address))
            self._beginning.add(task)
            task.add_done_callback(self._beginning.discard)
        else:
            self._refused[client] = self._loop.call_later(
                refusal_ms / 1000, self._close_refused, client
            )
        return True

    def _close_refused(self, client: socket.socket) -> None:
        self._refused.pop(client).cancel()
        client.close()

    async def _connect(self, client: socket.socket, address: str) -> None:
        try:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            new_protocol = partial(self._new_protocol, address)
            if self._tls is None:
                await self._loop.connect_accepted_socket(new_protocol, client)
            else:
                from .tls import accept_tls

                await accept_tls(self._loop, self._tls, new_protocol, client, address)
        except (OSError, asyncio.CancelledError) as error:
            client.close()
            self._connections.left(address)
            log.info("a connection from %s failed: %s", address, error)

    def _say(self, error: OSError) -> None:
        now = self._loop.time()
        if now >= self._silent_until:
            self._silent_until = now + _SAY_AGAIN_S
            log.warning("clients have to wait: a connection cannot be accepted: %s", error.strerror)
