"""One node of the cluster, as Metadata shows it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(slots=True)
class Node:
    """A node's id, and the address that clients are given for it."""

    node_id: int
    host: str
    port: int
    rack: str | None = None
    is_alive: bool = True
    """Whether it is listed: registered, and not fenced."""
    listeners: dict[str, tuple[str, int]] = field(default_factory=dict)
    """The host and port that clients of each listener are given, by its name."""

    protocols: dict[str, int] = field(default_factory=dict)
    """The security protocol of each listener, by its number in the metadata log."""

    def at(self, listener: str) -> tuple[str, int]:
        """The host and port for clients of a listener; those above are the first one's."""
        return self.listeners.get(listener, (self.host, self.port))


def alive(brokers: Mapping[int, Node]) -> dict[int, Node]:
    """Those brokers that answer, by id."""
    return {node_id: broker for node_id, broker in brokers.items() if broker.is_alive}


class Registered(NamedTuple):
    racks: Mapping[int, str | None]
    """Of each, by its id."""
    active: Collection[int]
    """Those that may lead: they are not fenced, and do not shut down."""
