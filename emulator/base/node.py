"""One node of the cluster, as Metadata shows it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
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


def alive(brokers: Mapping[int, Node]) -> dict[int, Node]:
    """Those brokers that answer, by id."""
    return {node_id: broker for node_id, broker in brokers.items() if broker.is_alive}


class Registered(NamedTuple):
    """The brokers that partitions may be on."""

    racks: Mapping[int, str | None]
    """Of each, by its id."""
    active: Collection[int]
    """Those that may lead: they are not fenced, and do not shut down."""
