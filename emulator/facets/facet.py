"""Facet: what every part of an Emulator's face stands on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from .. import seen
from ..cluster import Cluster
from ..net.server import Server

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


class Thread(Protocol):
    """The broker's thread, as far as it is used here (broker_thread.py)."""

    @property
    def is_current(self) -> bool: ...

    def running(self) -> Any: ...

    def call_anyhow(self, action: Callable[[Server], Any]) -> Any: ...

    def soon(self, action: Callable[[], object]) -> None: ...

    def exchange(self, make: Callable[[Cluster], Cluster], *, keeps_clients: bool) -> None: ...


class Facet(Protocol):
    """A part of an Emulator."""

    _inside: seen.Inside

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
