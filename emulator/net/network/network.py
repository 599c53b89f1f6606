"""Network: the faults that are set at one server, and the links in which they are met."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from .fault import Fault
from .link import Link

if TYPE_CHECKING:
    from ..protocol import ClientProtocol
    from ..server import Server


class Network:
    """Only the broker's thread calls this."""

    def __init__(self, server: Server, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.faults: list[Fault] = []
        self._server = server
        self._links: dict[ClientProtocol, Link] = {}
        self._there: dict[Fault, set[ClientProtocol]] = {}

    def set(self, fault: Fault) -> None:
        """From now on clients meet it. Raises OSError (listener.py)."""
        if fault.effect.refuses:
            self._server.refuse(fault, fault.is_at)
        self.faults.append(fault)
        if fault.effect.forgets:
            self._there[fault] = set(self._server.protocols)
        for protocol in list(self._server.protocols):
            self.connected(protocol)
        self._changed()

    def remove(self, fault: Fault) -> None:
        """Nobody meets it any more; what it has held goes on. Raises OSError."""
        if fault in self.faults:
            self.faults.remove(fault)
            fault.is_removed = True
            self._there.pop(fault, None)
            self._server.accept_again(fault)
            self._changed()

    def clear(self) -> None:
        """Remove all."""
        for fault in list(self.faults):
            self.remove(fault)

    def connected(self, protocol: ClientProtocol) -> None:
        """A connection that may meet a fault, now or when it is known whose it is."""
        if not self.faults or protocol in self._links:
            return
        who = protocol.connection.client_id if protocol.connection.requests else None
        if any(
            each.is_for(protocol, who) or (who is None and each.asks_who) for each in self.faults
        ):
            link = self._links[protocol] = Link(self, protocol)
            link.changed()

    def left(self, protocol: ClientProtocol) -> None:
        """A connection has no link any more."""
        self._links.pop(protocol, None)

    def was_there(self, fault: Fault, protocol: ClientProtocol) -> bool:
        """Whether a connection was there before the fault."""
        return protocol in self._there.get(fault, ())

    def met(self, fault: Fault, protocol: ClientProtocol, client_id: str | None) -> None:
        """A connection has met a fault."""
        fault.hits += 1
        name = protocol.connection.name or client_id or ""
        if client_id:
            fault.clients[client_id] = None
        journal = self._server.cluster.journal
        journal.run("network", name, "", -1, reason=fault.sentence)

    def _changed(self) -> None:
        for link in list(self._links.values()):
            link.changed()
