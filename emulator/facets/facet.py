"""Facet: what every part of an Emulator's face stands on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from ..cluster import Cluster
from ..seen import Inside

T = TypeVar("T")


class Misbehaving(Protocol):
    """Where faults are set besides rules."""

    unfinished: list[str]
    """Sentences that were given up before they had a verb."""

    @property
    def faults(self) -> Sequence[Any]:
        """Those that were set since the start or the last `reset`."""
        ...

    def heal(self) -> None:
        """End every fault."""

    def excuse(self) -> None:
        """The test has failed: it is told of nothing more."""


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
