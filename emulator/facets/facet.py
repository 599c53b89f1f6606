"""Facet: what every part of an Emulator's face stands on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from ..cluster import Cluster
from ..seen import Inside

T = TypeVar("T")


class Facet(Protocol):
    """A part of an Emulator."""

    _inside: Inside

    @property
    def bootstrap_servers(self) -> str:
        """What goes into a client's `bootstrap.servers`."""
        ...

    def run(self, action: Callable[[Cluster], T]) -> T:
        """Call `action(cluster)` in the broker's thread, and return what it returns."""
        ...

    def _is_running(self) -> bool:
        """Whether the broker runs in this process."""
        ...
