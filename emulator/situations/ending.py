"""What ends when its time by the broker's clock is over, also if the broker was restarted since."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from ..cluster import Cluster
    from .situated import Situated


class Jump(int):
    """The time to which the broker's clock was set, in ms since 1970."""

    undo: Callable[[], object] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def remove(self) -> None:
        """Set the clock back by as much, once."""
        undo, self.undo = self.undo, None
        if undo is not None:
            undo()

    heal = remove


def once_over(kafka: Situated, seconds: float, end: Callable[[], object]) -> None:
    """Call `end` in the broker's thread once so many seconds of its clock are over: not within what
    it does then, for that may move the clock."""
    due_ms = round(seconds * 1000)

    def begin(cluster: Cluster) -> None:
        due = cluster.clock.now() + due_ms
        cluster.timers.at(due, lambda: None)  # it looks then, at the latest

        def look() -> None:
            server = kafka._started().running().server
            if server.cluster.clock.now() >= due:
                server.cluster.watchers.remove(look)
                server.call_soon(end)

        cluster.watchers.append(look)  # which restarts keep, unlike timers

    kafka.run(begin)
