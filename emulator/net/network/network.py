"""Network: the faults that are set at one place, and the links in which they are met."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from .fault import Fault
from .link import Link

if TYPE_CHECKING:
    from .line import Line, Place


class Network:
    """Only the thread of the broker, or of the proxy, calls this."""

    def __init__(self, place: Place, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.faults: list[Fault] = []
        self._place = place
        self._links: dict[Line, Link] = {}
        self._there: dict[Fault, set[Line]] = {}

    def set(self, fault: Fault) -> None:
        """From now on clients meet it. Raises OSError (listener.py)."""
        if fault.effect.refuses:
            self._place.refuse(fault, fault.is_at)
        self.faults.append(fault)
        if fault.effect.forgets:
            self._there[fault] = set(self._place.protocols)
        for protocol in list(self._place.protocols):
            self.connected(protocol)
        self._changed()

    def remove(self, fault: Fault) -> None:
        """Nobody meets it any more; what it has held goes on. Raises OSError."""
        if fault in self.faults:
            self.faults.remove(fault)
            fault.is_removed = True
            self._there.pop(fault, None)
            self._place.accept_again(fault)
            self._changed()

    def clear(self) -> None:
        for fault in list(self.faults):
            self.remove(fault)

    def connected(self, protocol: Line) -> None:
        """A connection that may meet a fault, now or when it is known whose it is."""
        if not self.faults or protocol in self._links:
            return
        who = protocol.who
        if any(
            each.is_for(protocol, who) or (who is None and each.asks_who) for each in self.faults
        ):
            link = self._links[protocol] = Link(self, protocol)
            link.changed()

    def left(self, protocol: Line) -> None:
        self._links.pop(protocol, None)

    def was_there(self, fault: Fault, protocol: Line) -> bool:
        return protocol in self._there.get(fault, ())

    def met(self, fault: Fault, protocol: Line, client_id: str | None) -> None:
        fault.met += 1
        name = protocol.name or client_id or ""
        if client_id:
            fault.clients[client_id] = None
        self._place.journal.run("network", name, "", -1, reason=fault.sentence)

    def _changed(self) -> None:
        for link in list(self._links.values()):
            link.changed()
