"""The client of a connection: its principal, and its software."""

from __future__ import annotations

from typing import NamedTuple


class Principal(NamedTuple):
    """Who a client has authenticated as."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


def told_as(principal: Principal) -> dict[str, str]:
    """Details of an event that name who did it; none of a client that has not authenticated."""
    return {} if principal == ANONYMOUS else {"principal": f" ({principal})"}


ANONYMOUS = Principal("User", "ANONYMOUS")
"""The principal of every client of a listener without authentication."""


class ClientSoftware(NamedTuple):
    """The name and version that a client sends in ApiVersions, from v3 on (KIP-511)."""

    name: str
    version: str


UNKNOWN_SOFTWARE = ClientSoftware("unknown", "unknown")
"""What Kafka takes for the software of a client that has not sent it."""
