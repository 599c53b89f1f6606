"""Peer: a connection as a journal keeps it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from ...base.addresses import bracketed
from ...base.client import UNKNOWN_SOFTWARE, ClientSoftware


class Address(NamedTuple):
    """One end of a connection. The host is a number, such as "127.0.0.1" or "::1"."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{bracketed(self.host)}:{self.port}"


NOWHERE = Address("127.0.0.1", 0)
"""Of a connection without a socket."""


@dataclass(slots=True, eq=False)
class Peer:
    """A connection: its two ends, and the software that its client says it is."""

    number: int
    """From 1 on, in the order in which they first sent a request."""
    client: Address
    broker: Address
    node_id: int = -1
    """The broker that was asked; -1 if that is not known."""
    software: ClientSoftware = UNKNOWN_SOFTWARE
    topic_names: dict[bytes, str] = field(default_factory=dict, repr=False)
    """What topic ids stand for; one for all connections of a journal."""

    def __str__(self) -> str:
        to = f"broker {self.node_id} at " if self.node_id >= 0 else ""
        return f"connection {self.number} from {self.client} to {to}{self.broker}"
