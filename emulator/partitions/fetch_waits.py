"""Fetches that wait for data, and what wakes them.

A waiting fetch is registered with every partition it asks for. What happens to a partition (an
append, a roll, the end of a transaction, deletion) is told to its waits; one that has enough is
put on the cluster's list of woken ones and answered after the request that woke it, so that a
produce request which fills twelve partitions is one answer to a consumer, not twelve.

Left out: deleting records past the offset does not wake (as on a real broker).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from ..base.timers import Timer

if TYPE_CHECKING:
    from ..cluster import Cluster
    from .partition import Partition


class FetchWait:
    """One parked fetch. `finish` answers it with whatever there is then; `has_enough` looks
    whether that is what it waits for."""

    __slots__ = (
        "_cluster",
        "_finish",
        "_has_enough",
        "_missing",
        "_partitions",
        "_timer",
        "is_over",
        "isolation",
    )

    def __init__(
        self,
        cluster: Cluster,
        partitions: Iterable[Partition],
        missing_bytes: int,
        deadline: int,
        finish: Callable[[], None],
        isolation: int,
        has_enough: Callable[[], bool],
    ) -> None:
        self._cluster = cluster
        self._partitions = list(partitions)
        self._missing = missing_bytes
        self._finish = finish
        self._has_enough = has_enough
        self.isolation = isolation
        self.is_over = False
        for partition in self._partitions:
            partition.waits.append(self)
        self._timer: Timer = cluster.timers.at(deadline, self.wake)

    def more(self, size: int) -> None:
        """`size` more bytes became readable in one of the partitions."""
        self._missing -= size
        if self._missing <= 0:
            self.wake()

    def moved(self) -> None:
        """The last stable offset of a partition has moved, by an amount that only a look tells."""
        if self._has_enough():
            self.wake()

    def wake(self) -> None:
        """Enough, too late, or changed: answer at the next opportunity."""
        if not self.is_over:
            self.cancel()
            self._cluster.woken.append(self._finish)

    def cancel(self) -> None:
        """Stop waiting without an answer."""
        self.is_over = True
        self._timer.cancel()
        for partition in self._partitions:
            if self in partition.waits:
                partition.waits.remove(self)
