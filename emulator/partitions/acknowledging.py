"""Produced batches that wait until all replicas in sync have them (acks=all).

Each is answered when the high watermark has passed it; when its time is over (7, and the batch
stays where it is); or when the partition has another leader (6): the record survives if that one
has it. 20 is never answered: while too few replicas are in sync the high watermark stands still, so
the time runs out (semantics O14-O17).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...wire import Error
from ..base.timers import Timer

if TYPE_CHECKING:
    from ..environment import Environment
    from .partition import Partition


class Unreplicated(NamedTuple):
    """One batch that was appended, up to `end`, at the broker that led; `refuse` has the answer say
    that it may be lost."""

    partition: Partition
    node_id: int
    end: int
    refuse: Callable[[Error], None]


class AckWait:
    """The wait of one Produce. `finish` answers it."""

    __slots__ = ("_environment", "_finish", "_left", "_timer")

    def __init__(
        self, environment: Environment, batches: Sequence[Unreplicated], finish: Callable[[], None]
    ) -> None:
        self._environment = environment
        self._left = list(batches)
        self._finish = finish
        self._timer: Timer

    def begin(self, most_ms: int) -> None:
        """Wait so long at most, in real time."""
        for each in self._left:
            each.partition.acks.append(self)
        self._timer = self._environment.after(most_ms, self._time_is_over)

    def look(self) -> None:
        """A high watermark or a leader may have changed."""
        if not self._left:
            return
        left = []
        for each in self._left:
            partition = each.partition
            if partition.topic.is_deleted:
                each.refuse(Error.UNKNOWN_TOPIC_OR_PARTITION)
            elif partition.leader != each.node_id:
                each.refuse(Error.NOT_LEADER_OR_FOLLOWER)
            elif partition.high_watermark < each.end:
                left.append(each)
                continue
            partition.acks.remove(self)
        self._left = left
        if not left:
            self._timer.cancel()
            self._environment.woken.append(self._finish)

    def _time_is_over(self) -> None:
        left, self._left = self._left, []
        for each in left:
            each.partition.acks.remove(self)
            each.refuse(Error.REQUEST_TIMED_OUT)
        self._environment.woken.append(self._finish)

    def cancel(self) -> None:
        """The client is gone."""
        self._timer.cancel()
        for each in self._left:
            each.partition.acks.remove(self)
        self._left = []
