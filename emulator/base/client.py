"""Who is on the other end of a connection: the principal, and the client's software."""

from __future__ import annotations

from typing import NamedTuple


class Principal(NamedTuple):
    """Who a client is, as far as it has proved it."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


ANONYMOUS = Principal("User", "ANONYMOUS")
"""Everybody on a listener without authentication."""


class ClientSoftware(NamedTuple):
    """What a client says of itself in ApiVersions, from v3 on (KIP-511)."""

    name: str
    version: str


UNKNOWN_SOFTWARE = ClientSoftware("unknown", "unknown")
"""What Kafka calls the software of a client that has not said."""
