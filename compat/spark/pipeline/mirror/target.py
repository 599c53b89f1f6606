"""What a mirror writes to: the same few verbs for a cluster and for a directory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from ..broker import Cluster, Fetched, Place


class Target(Protocol):
    """Where a mirror goes. All of it raises BrokerError or PipelineError."""

    cluster: Cluster
    """For topics, configs and groups."""

    written: int
    """Records so far."""

    filled: int
    """Offsets that were filled so far."""

    def open(self, places: list[Place]) -> dict[Place, int | None]:
        """Get ready to write to these partitions. The source's offset from which each of them goes
        on; None for one that is empty."""

    def start_at(self, place: Place, offset: int) -> None:
        """Make an empty partition begin at the source's first offset."""

    def write(self, fetched: Mapping[Place, tuple[Fetched, int]]) -> None:
        """Write what was fetched, of each partition what is there from an offset on. It is kept
        when this returns."""

    def caught_up(self, positions: Mapping[Place, int]) -> None:
        """There is nothing more up to these offsets of the source."""

    def close(self) -> None:
        """Nothing more is written."""
