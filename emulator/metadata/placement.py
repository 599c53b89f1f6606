"""Which brokers the partitions of a topic are on, where nobody assigns them.

As Kafka does it (StripedReplicaPlacer), leaders go round the racks, and in each rack round its
brokers; followers come from the racks in turn, so that a partition is in as many racks as it can
be. Those that may not lead come last in their rack. A broker that is alone in its rack leads, and
follows, more than others.

Kafka chooses among the brokers of a rack at random; here the first leads partition 0, and a
follower is the broker that has fewest replicas so far, so that a test knows the leaders.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ..base.node import Registered


def places(partitions: Iterable[int], factor: int, brokers: Registered) -> list[list[int]]:
    """The replicas of partitions, which are numbered from 0 on, the leader first. There are as many
    brokers as replicas, at least, and one that may lead."""
    racks = len({*brokers.racks.values()})
    if racks in (1, len(brokers.racks)):  # then all are alike
        active = sorted(brokers.active)
        others = sorted({*brokers.racks} - {*active})
        return [(_from(active, i) + _from(others, i))[:factor] for i in partitions]
    wanted = list(partitions)
    placer = _Placer(brokers)
    found = [placer.place(index, factor) for index in range(max(wanted, default=-1) + 1)]
    return [found[index] for index in wanted]


def _from(ring: list[int], index: int) -> list[int]:
    """A ring from one of its places on."""
    first = index % len(ring) if ring else 0
    return ring[first:] + ring[:first]


class _Placer:
    """Places partitions on racks of several brokers, one after the other."""

    def __init__(self, brokers: Registered) -> None:
        self._active = frozenset(brokers.active)
        racks: dict[str | None, list[int]] = {}
        for node_id in sorted(brokers.racks):
            racks.setdefault(brokers.racks[node_id], []).append(node_id)
        self._racks = list(racks.values())
        self._leaders = [[each for each in rack if each in self._active] for rack in self._racks]
        self._leading = [rack for rack, able in enumerate(self._leaders) if able]
        self._has: Counter[int] = Counter()

    def place(self, index: int, factor: int) -> list[int]:
        """The replicas of the next partition."""
        turn, place = index // len(self._leading), index % len(self._leading)
        rack = self._leading[place]
        able = self._leaders[rack]
        chosen = [able[turn % len(able)]]
        while len(chosen) < factor:
            rack = (rack + 1) % len(self._racks)
            left = [each for each in self._racks[rack] if each not in chosen]
            if left and not self._waits(rack, chosen):
                chosen.append(min(left, key=lambda e: (e not in self._active, self._has[e])))
        self._has.update(chosen)
        return chosen

    def _waits(self, rack: int, chosen: list[int]) -> bool:
        """Whether another rack with brokers left has fewer of the replicas."""
        counts = [
            sum(each in chosen for each in ids)
            for ids in self._racks
            if any(each not in chosen for each in ids)
        ]
        return sum(each in chosen for each in self._racks[rack]) > min(counts)
