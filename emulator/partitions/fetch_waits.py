"""Fetches that wait for data, and what wakes them.

A waiting fetch is registered with every partition it asks for. A partition notifies its waits of
appends, of the end of transactions and of its deletion. A fetch that has enough is put on the
cluster's list of woken ones, and answered after the request that woke it: a produce request that
fills twelve partitions makes one answer to a consumer, not twelve.

What counts as enough is not what a read would return: it is the bytes of each partition's segment
up to its limit, where a cut batch counts and a whole one larger than the limit does not. A fetch
whose offset is in an older segment than the end of what it may read, or above that end, does not
wait.

Deleting records past the offset does not wake a fetch, as on a real broker. Nor does a move of the
leader wake one that followers answer too (v11 and later), unless it says in which leader epoch it
takes the partition to be.
Source: Kafka 4.3.1's answers (DelayedFetch).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ...storage import Place
from ...wire import Refused
from ..base.timers import Timer

if TYPE_CHECKING:
    from ..environment import Environment
    from .partition import Partition


class Wait(Protocol):
    """A wait for a partition: a fetch, of a consumer or of a member of a share group."""

    @property
    def isolation(self) -> int: ...

    def more(self, size: int) -> None:
        """At most so many more bytes may be read of the partition."""
        ...

    def moved(self) -> None:
        """The readable bytes have changed, by an amount that must be counted."""
        ...

    def led(self, changed: Partition) -> None:
        """The partition has another leader, other replicas, or others in sync."""
        ...

    def wake(self) -> None:
        """The partition is gone."""
        ...


class Awaited(NamedTuple):
    """One partition of a waiting fetch: from where on it reads, how much of it counts, and in which
    leader epoch the client takes it to be, NO_EPOCH if it does not say."""

    partition: Partition
    offset: int
    place: Place | None
    max_bytes: int
    epoch: int


class Reader(NamedTuple):
    """Who waits: at which broker, at which isolation level, and whether only a leader may answer
    it."""

    node_id: int
    isolation: int
    leader_only: bool


def awaited(partition: Partition, offset: int, max_bytes: int, epoch: int) -> Awaited:
    return Awaited(partition, offset, place_of(partition, offset), max_bytes, epoch)


def place_of(partition: Partition, offset: int) -> Place | None:
    """None where the disk fails: reading then says so."""
    try:
        return partition.log.reader.place_of(offset)
    except Refused:
        return None


class FetchWait:
    """One parked fetch, from `begin` on. `finish` answers it with what there is then."""

    __slots__ = (
        "_awaited",
        "_environment",
        "_finish",
        "_min_bytes",
        "_missing",
        "_reader",
        "_timer",
        "is_over",
        "isolation",
    )

    def __init__(
        self,
        environment: Environment,
        awaited: Sequence[Awaited],
        min_bytes: int,
        reader: Reader,
        finish: Callable[[], None],
    ) -> None:
        self._environment = environment
        self._awaited = awaited
        self._min_bytes = min_bytes
        self._finish = finish
        self.isolation = reader.isolation
        self._reader = reader
        self.is_over = False
        self._missing = self._count()

    def begin(self, most_ms: int) -> bool:
        """Wait so long at most, in real time; False if there is nothing to wait for."""
        if self._missing <= 0:
            return False
        for each in self._awaited:
            each.partition.waits.append(self)
        self._timer: Timer = self._environment.after(most_ms, self.wake)
        return True

    def _count(self) -> int:
        """The bytes that are missing; none where waiting would be in vain."""
        missing = self._min_bytes
        isolation, node_id = self.isolation, self._reader.node_id
        for partition, offset, place, max_bytes, _ in self._awaited:
            upto = partition.upper_bound(isolation, node_id)
            if offset > upto:
                return 0
            if offset < upto:
                end = place_of(partition, upto)
                if place is None or end is None or place.segment < end.segment:
                    return 0
                missing -= min(end.position - place.position, max_bytes)
        return missing

    def more(self, size: int) -> None:
        """At most `size` more bytes count in one of the partitions."""
        self._missing -= size
        if self._missing <= 0:
            self.moved()

    def moved(self) -> None:
        """The readable bytes of a partition have changed, by an amount that must be counted."""
        self._missing = self._count()
        if self._missing <= 0:
            self.wake()

    def led(self, changed: Partition) -> None:
        """A partition has another leader, other replicas, or others in sync: who may not read there
        any more is answered; others wait on."""
        node_id, _, leader_only = self._reader
        for partition, *_, epoch in self._awaited:
            if partition is changed:
                try:
                    partition.check_read(node_id, epoch, leader_only=leader_only)
                except Refused:
                    self.wake()
                    return
        self.moved()

    def wake(self) -> None:
        """There is enough, time is up, or a partition has changed: answer at the next chance."""
        if not self.is_over:
            self.cancel()
            self._environment.woken.append(self._finish)

    def cancel(self) -> None:
        """Stop waiting without an answer."""
        self.is_over = True
        self._timer.cancel()
        for partition, *_ in self._awaited:
            if self in partition.waits:
                partition.waits.remove(self)
