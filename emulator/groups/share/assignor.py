"""The assignor `simple` (KIP-932, semantics N5): every member gets a partition, every partition a
member, about equally many each; what members have they keep as far as that allows.

If all subscribe to the same topics, their partitions are shared out together, else topic by topic.
Where a choice is free, a real broker's follows from the order of its hash maps; ours is the same
(base/java_order.py). Source: Kafka 4.3.1's answers (SimpleAssignor).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from math import ceil
from typing import Generic, NamedTuple, TypeVar

from ...base.java_order import id_order, id_partition_order, int_order, room_for
from .members import Assignment

Part = tuple[bytes, int]
P = TypeVar("P", bound=Hashable)
Order = Callable[[Iterable[P], int], list[P]]
"""The order in which a hash map with so many buckets lists partitions."""
_ROOM = 16


class ShareSpec(NamedTuple):
    """A member as the assignor sees it; `target` is its target assignment until now."""

    topics: frozenset[bytes]
    target: Assignment


Specs = Mapping[str, ShareSpec]
"""Members by id, in the order of a Java HashMap."""


def assign(
    specs: Specs, assignable: Mapping[bytes, frozenset[int]], *, homogeneous: bool
) -> dict[str, Assignment]:
    """The new target of every member. `assignable`: the partitions that may be assigned;
    `homogeneous`: all members subscribe to the same topics."""
    topics = frozenset().union(*(spec.topics for spec in specs.values()))
    if not topics:
        return {member_id: {} for member_id in specs}
    held = [{topic: set(parts) for topic, parts in spec.target.items()} for spec in specs.values()]
    if homogeneous:
        _share_out_together(held, topics, assignable)
    else:
        for topic in id_order(topics):
            members = [i for i, spec in enumerate(specs.values()) if topic in spec.topics]
            parts = sorted(assignable.get(topic, ()))
            _share_out_one(held, topic, members, parts)
    return {
        member_id: {topic: frozenset(parts) for topic, parts in mine.items()}
        for member_id, mine in zip(specs, held, strict=True)
    }


def _share_out_together(
    held: list[dict[bytes, set[int]]],
    topics: frozenset[bytes],
    assignable: Mapping[bytes, frozenset[int]],
) -> None:
    for mine in held:
        for topic in mine.keys() - topics:
            del mine[topic]
    targets = [(t, p) for t in id_order(topics) for p in sorted(assignable.get(t, ()))]
    before = [
        [(topic, part) for topic in id_order(mine) for part in int_order(mine[topic])]
        for mine in held
    ]
    sharing = _Sharing(before, list(range(len(held))), targets, _by_id, len(held))
    for member, (taken, given) in enumerate(sharing.changes()):
        for topic, part in taken:
            held[member][topic].remove(part)
        for topic, part in given:
            held[member].setdefault(topic, set()).add(part)


def _by_id(keys: Iterable[Part], room: int) -> list[Part]:
    return id_partition_order(keys, room=room)


def _by_number(keys: Iterable[int], room: int) -> list[int]:
    return int_order(keys, room=room)


def _share_out_one(
    held: list[dict[bytes, set[int]]], topic: bytes, members: list[int], parts: list[int]
) -> None:
    before = [int_order(mine.get(topic, ())) for mine in held]
    sharing = _Sharing(before, members, parts, _by_number, len(held))
    for member, (taken, given) in enumerate(sharing.changes()):
        for part in taken:
            held[member][topic].remove(part)
        for part in given:
            held[member].setdefault(topic, set()).add(part)


class _Sharing(Generic[P]):
    """Sharing partitions out among members, who are numbers. `before` is what each of `count`
    members has, `members` are those who want any."""

    def __init__(
        self,
        before: Sequence[Sequence[P]],
        members: Sequence[int],
        targets: Sequence[P],
        order: Order[P],
        count: int,
    ) -> None:
        self._members = members
        self._order = order
        self._room = room_for(len(targets))
        self._sharing = ceil(len(members) / len(targets)) if targets else 0
        self._wanted = _wanted_counts(members, self._sharing * len(targets), count)
        self._taken: list[list[P]] = [[] for _ in range(count)]
        self._given: list[list[P]] = [[] for _ in range(count)]
        self._held = [dict.fromkeys(mine) for mine in before]
        self._holders: dict[P, set[int]] = {}
        for member, mine in enumerate(before):
            for part in mine:
                self._holders.setdefault(part, set()).add(member)
        self._targets = targets

    def changes(self) -> list[tuple[list[P], list[P]]]:
        for member, mine in enumerate(self._held):
            excess = len(mine) - self._wanted[member]
            for part in self._order(mine, _ROOM)[: max(0, excess)]:
                self._take(member, part)
        for part in self._order(self._holders, self._room):
            holders = self._holders[part]
            for member in int_order(holders)[: max(0, len(holders) - self._sharing)]:
                self._take(member, part)
        for part in self._targets:
            self._holders.setdefault(part, set())
        self._give()
        return list(zip(self._taken, self._given, strict=True))

    def _take(self, member: int, part: P) -> None:
        self._holders[part].discard(member)
        del self._held[member][part]
        self._taken[member].append(part)

    def _give(self) -> None:
        unfilled = [m for m in self._members if len(self._held[m]) < self._wanted[m]]
        at, has_given = 0, False
        for part in self._order(self._holders, self._room):
            holders = self._holders[part]
            missing = self._sharing - len(holders)
            while missing > 0 and unfilled:
                if at >= len(unfilled):
                    if not has_given:
                        break
                    at, has_given = 0, False
                member = unfilled[at]
                at += 1
                if member in holders:
                    continue
                holders.add(member)
                self._held[member][part] = None
                self._given[member].append(part)
                missing, has_given = missing - 1, True
                if len(self._held[member]) >= self._wanted[member]:
                    at -= 1
                    del unfilled[at]
            if not unfilled:
                break


def _wanted_counts(members: Sequence[int], total: int, count: int) -> list[int]:
    """How many partitions each member shall have, of so many in all."""
    wanted = [0] * count
    each = total / len(members) if members else 0.0
    for place, member in enumerate(members):
        wanted[member] = ceil(each * (place + 1)) - ceil(each * place)
    return wanted
