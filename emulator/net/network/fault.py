"""Fault: one way in which a network misbehaves, and for whom.

What a fault does to bytes, or to a connection, is plain numbers here (`Effect`); a link
(link.py) carries it out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from ...base.never_matched import TestFault

if TYPE_CHECKING:
    from .line import Line

UP, DOWN = "upstream", "downstream"
"""From the client to the broker, and from the broker to the client."""
STREAMS = {UP: frozenset({UP}), DOWN: frozenset({DOWN}), "both": frozenset({UP, DOWN})}


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of a fault. Times are real seconds."""

    streams: frozenset[str] = frozenset()
    """The directions in which bytes are changed, if they are."""
    latency_s: float = 0.0
    jitter_s: float = 0.0
    bytes_per_s: float = 0.0
    """At most so many; 0 is no limit."""
    piece_bytes: int = 0
    """Bytes come in pieces of this size; 0 leaves them as they are."""
    piece_s: float = 0.0
    """The time between pieces."""
    most_bytes: int | None = None
    """After so many of a connection it is closed."""
    holds: bool = False
    """Bytes wait until the fault is removed."""
    drops: bool = False
    """Bytes disappear."""
    close_s: float = 0.0
    """So much later does a client learn that the broker has closed the connection."""
    reset_s: float | None = None
    """So long after it was met, a connection is reset."""
    forgets: bool = False
    """The broker has lost the connections that there are, and sends their clients nothing."""
    refuses: bool = False
    """New connections are refused."""


class Fault(TestFault):
    """A fault that is set. Everything but its numbers is the broker's thread's.

    `takes` says whether a client with this id is meant, None that all are; `port` is that of one
    connection, None means all; `node_id` that of a broker.
    """

    def __init__(
        self,
        sentence: str,
        effect: Effect,
        takes: Callable[[str], bool] | None = None,
        port: int | None = None,
        node_id: int | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(sentence)
        self.effect = effect
        self.random = Random(seed)
        self.is_removed = False
        self.met = 0
        """How many connections have met it."""
        self.clients: dict[str, None] = {}
        """Their client ids, as far as they are known."""
        self._takes = takes
        self._port = port
        self._node_id = node_id

    @property
    def hits(self) -> int:
        return self.met

    @property
    def asks_who(self) -> bool:
        return self._takes is not None

    def is_for(self, protocol: Line, client_id: str | None) -> bool:
        """Whether a connection is meant, whose client has this id; None: it is not known yet."""
        if self._node_id is not None and protocol.node_id != self._node_id:
            return False
        if self._port is not None and protocol.port != self._port:
            return False
        return self._takes is None or (client_id is not None and self._takes(client_id))

    def is_at(self, node_id: int) -> bool:
        return self._node_id is None or self._node_id == node_id


def never_met(fault: Fault, clients: list[str]) -> str:
    """The clients that came instead of those who are meant."""
    there = f"connected were {', '.join(clients)}" if clients else "no client was connected"
    return f"{fault.sentence} was met by no client: {there}. If that may be so: .optional()"
