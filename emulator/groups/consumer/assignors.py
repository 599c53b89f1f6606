"""The server's assignors: which member shall have which partitions (KIP-848, semantics G22).

- range: members sorted by instance, then by id, each get a range of each topic they subscribe to;
  topics with as many partitions are therefore split the same way.
- uniform: all members get the same number of partitions, within one, and keep what they have as far
  as that allows.

Racks are not looked at. Where a choice is free, a real broker's follows from the order of its hash
maps; ours is the same (base/java_order.py). Assignors see only the last target assignment, not
epochs nor what a member has at the moment.

The uniform assignor where members subscribe to different topics:
1. Every member keeps the partitions of topics it still subscribes to.
2. Unassigned partitions are assigned topic by topic, each to the subscriber with the fewest.
3. Partitions move from the subscribers of a topic with the most to those with the fewest, until no
   two of them differ by more than one, or nothing can be moved; all topics are processed again
   until a whole round has moved nothing (16 rounds at most).

Topics with many partitions a subscriber come first: they leave the least choice. In a tie the
member is chosen that comes first in a Java HashMap, so that the result is a real broker's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from ...base.java_order import id_order, int_order
from .members import Assignment

UNIFORM, RANGE = "uniform", "range"


class MemberSpec(NamedTuple):
    """A member as an assignor sees it; `target` is its target assignment until now."""

    instance_id: str | None
    topics: frozenset[bytes]
    target: Assignment


Specs = Mapping[str, MemberSpec]
"""Members by id, in the order of a Java HashMap."""

Count = Callable[[bytes], int]
"""How many partitions a topic has."""


def assign(
    name: str,
    specs: Specs,
    count: Count,
    *,
    homogeneous: bool,
    leaves_extra: bool = True,
) -> dict[str, Assignment]:
    """The new target of every member. `homogeneous`: all subscribe to the same topics. Members
    without any partition may be missing. Without `leaves_extra` the first members get the
    partitions that are left when all have as many, as before 4.1, whoever could keep more."""
    if not specs:
        return {}
    if name == RANGE:
        return _range(specs, count, homogeneous)
    if homogeneous:
        return _uniform(specs, count, leaves_extra)
    targets = {member_id: spec.target for member_id, spec in specs.items()}
    return assign_mixed({m: spec.topics for m, spec in specs.items()}, targets, count)


# range


def _range(specs: Specs, count: Count, homogeneous: bool) -> dict[str, Assignment]:
    ordered = sorted(specs, key=lambda member_id: _place(specs[member_id].instance_id, member_id))
    subscribers: dict[bytes, list[str]] = {}
    for member_id in ordered:
        # If all are said to be alike, the first member's topics count for all.
        for topic in specs[ordered[0] if homogeneous else member_id].topics:
            subscribers.setdefault(topic, []).append(member_id)
    assigned: dict[str, dict[bytes, frozenset[int]]] = {member_id: {} for member_id in ordered}
    for topic, members in subscribers.items():
        each, extra = divmod(count(topic), len(members))
        start = 0
        for index, member_id in enumerate(members):
            end = start + each + (index < extra)
            if start < end:
                assigned[member_id][topic] = frozenset(range(start, end))
            start = end
    return {**assigned}


def _place(instance_id: str | None, member_id: str) -> tuple[bool, bytes]:
    """The sort key: static members first. Java compares strings by their UTF-16 units."""
    text = member_id if instance_id is None else instance_id
    return instance_id is None, text.encode("utf-16-be", "surrogatepass")


# uniform, all subscribing to the same topics


def _uniform(specs: Specs, count: Count, leaves_extra: bool) -> dict[str, Assignment]:
    topics = next(iter(specs.values())).topics
    if not topics:
        return {}
    held = {
        (topic, partition)
        for spec in specs.values()
        for topic, partitions in spec.target.items()
        for partition in partitions
    }
    ordered = id_order(topics, presized=True)
    free = [(t, p) for t in ordered for p in range(count(t)) if (t, p) not in held]
    each, extra = divmod(sum(count(topic) for topic in topics), len(specs))
    assigned: dict[str, dict[bytes, set[int]]] = {}
    unfilled: list[tuple[str, int]] = []
    for index, (member_id, spec) in enumerate(specs.items()):
        has_extra = extra > 0
        assigned[member_id], left = _kept(spec.target, topics, each + has_extra, free)
        if left and has_extra and leaves_extra and len(specs) - index > extra:
            # Leave the extra one to a later member that has more to keep, if there may be one.
            left, has_extra = left - 1, False
        if left:
            unfilled.append((member_id, left))
        extra -= has_extra
    _fill(assigned, unfilled, free)
    return {
        member_id: {topic: frozenset(parts) for topic, parts in of_member.items()}
        for member_id, of_member in assigned.items()
    }


def _kept(
    target: Assignment, topics: frozenset[bytes], quota: int, free: list[tuple[bytes, int]]
) -> tuple[dict[bytes, set[int]], int]:
    """The target that a member keeps, and how many more it may get; the rest over the quota becomes
    free."""
    kept: dict[bytes, set[int]] = {}
    for topic in id_order(target):
        if topic not in topics:
            continue
        partitions = int_order(target[topic], presized=True)
        if stays := partitions[:quota]:
            kept[topic] = set(stays)
        free += [(topic, partition) for partition in partitions[quota:]]
        quota -= len(stays)
    return kept, quota


def _fill(
    assigned: dict[str, dict[bytes, set[int]]],
    unfilled: Sequence[tuple[str, int]],
    free: Sequence[tuple[bytes, int]],
) -> None:
    position = 0
    for member_id, quota in unfilled:
        for topic, partition in free[position : position + quota]:
            assigned[member_id].setdefault(topic, set()).add(partition)
        position += quota


_ROUNDS_MAX = 16
_NOBODY = -1


def assign_mixed(
    topics: Mapping[str, frozenset[bytes]],
    targets: Mapping[str, Assignment],
    count: Callable[[bytes], int],
) -> dict[str, Assignment]:
    """The new targets, from each member's topics and its target until now. The order of `topics` is
    the order of the members."""
    work = _Mixed(topics, count)
    if not work.owners:
        return {}
    work.keep(targets)
    work.give_out()
    work.balance()
    return work.result()


class _Mixed:
    """The owners of partitions, as numbers of members, and how many partitions each has."""

    def __init__(
        self, topics: Mapping[str, frozenset[bytes]], count: Callable[[bytes], int]
    ) -> None:
        self.members = list(topics)
        self.sizes = [0] * len(self.members)
        self.subscribers: dict[bytes, list[int]] = {}
        for number, member_id in enumerate(self.members):
            for topic in topics[member_id]:
                self.subscribers.setdefault(topic, []).append(number)
        self.owners = {topic: [_NOBODY] * count(topic) for topic in self.subscribers}

    def keep(self, targets: Mapping[str, Assignment]) -> None:
        for number, member_id in enumerate(self.members):
            for topic, partitions in targets[member_id].items():
                if number not in self.subscribers.get(topic, ()):
                    continue
                for partition in partitions:
                    self.give(topic, partition, number)

    def give_out(self) -> None:
        for topic in self.in_order(t for t, owners in self.owners.items() if _NOBODY in owners):
            balancer = _Balancer(self.subscribers[topic], self.sizes)
            for partition, owner in enumerate(self.owners[topic]):
                if owner == _NOBODY:
                    self.give(topic, partition, balancer.next_least())

    def balance(self) -> None:
        topics = self.in_order(t for t, those in self.subscribers.items() if len(those) > 1)
        last = -1
        for _ in range(_ROUNDS_MAX):
            for index, topic in enumerate(topics):
                if index == last:  # once around without a move
                    return
                if self.balance_topic(topic) or last == -1:
                    last = index

    def balance_topic(self, topic: bytes) -> int:
        """Move partitions of one topic; returns how many were moved."""
        balancer = _Balancer(self.subscribers[topic], self.sizes)
        if balancer.spread <= 1:
            return 0
        # Each member's partitions of the topic, the next to go last.
        held: dict[int, list[int]] = {}
        for partition, owner in enumerate(self.owners[topic]):
            held.setdefault(owner, []).append(partition)
        moved = 0
        while not balancer.is_balanced:
            giver = balancer.next_most()
            while giver is not None and not held.get(giver):
                balancer.exclude_most()
                giver = balancer.next_most()
            if giver is None:
                break
            partition = held[giver].pop()
            taker = balancer.next_least()
            if balancer.is_balanced:
                break
            self.give(topic, partition, taker)
            moved += 1
        return moved

    def give(self, topic: bytes, partition: int, number: int) -> None:
        before = self.owners[topic][partition]
        if before != _NOBODY:
            self.sizes[before] -= 1
        self.owners[topic][partition] = number
        self.sizes[number] += 1

    def in_order(self, topics: Iterable[bytes]) -> list[bytes]:
        """Most partitions a subscriber first, then fewest subscribers, then by id."""

        def rank(topic: bytes) -> tuple[float, int, int, int]:
            subscribers = len(self.subscribers[topic])
            share = len(self.owners[topic]) / subscribers
            high = int.from_bytes(topic[:8], "big", signed=True)
            return -share, subscribers, high, int.from_bytes(topic[8:], "big", signed=True)

        return sorted(topics, key=rank)

    def result(self) -> dict[str, Assignment]:
        assigned: list[dict[bytes, set[int]]] = [{} for _ in self.members]
        for topic, owners in self.owners.items():
            for partition, owner in enumerate(owners):
                if owner != _NOBODY:
                    assigned[owner].setdefault(topic, set()).add(partition)
        return {
            member_id: {topic: frozenset(parts) for topic, parts in of_member.items()}
            for member_id, of_member in zip(self.members, assigned, strict=True)
        }


class _Balancer:
    """Picks, among some members, the one with the fewest partitions and the one with the most.

    Members are sorted by how many they have. Two ranges grow from the ends towards each other: in
    [0, _least_end) all have `_least` partitions, in [_most_start, _most_end) all `_most`. In one
    pass over a range each member gives or takes one; then its level moves by one, and members with
    that many join it. Members that have nothing to give are moved to `_most_end` and after.
    """

    def __init__(self, members: list[int], sizes: list[int]) -> None:
        self._sizes = sizes
        self._sorted = sorted(members, key=lambda number: (sizes[number], number))
        first, last = sizes[self._sorted[0]], sizes[self._sorted[-1]]
        self.spread = last - first
        self._least, self._least_end, self._next_least = first - 1, 0, 0
        self._most_start = self._most_end = len(self._sorted)
        self._most, self._next_most = last + 1, len(self._sorted) - 1

    @property
    def is_balanced(self) -> bool:
        return self._most - self._least <= 1

    def next_least(self) -> int:
        if self._next_least >= self._least_end:
            self._least += 1
            while (
                self._least_end < len(self._sorted) and self._size(self._least_end) == self._least
            ):
                self._least_end += 1
            self._next_least = 0
        self._next_least += 1
        return self._sorted[self._next_least - 1]

    def next_most(self) -> int | None:
        """The next member with the most; None if no member can give any more."""
        if self._next_most < self._most_start:
            if self._most_end <= self._most_start and self._most_start > 0:
                # The whole range was excluded: start again at the next level there is.
                self._most = self._size(self._most_start - 1)
            else:
                self._most -= 1
            while self._most_start > 0 and self._size(self._most_start - 1) == self._most:
                self._most_start -= 1
            self._next_most = self._most_end - 1
        if self._next_most < 0:
            return None
        self._next_most -= 1
        return self._sorted[self._next_most + 1]

    def exclude_most(self) -> None:
        """The member that `next_most` has just returned has nothing to give."""
        here, end = self._next_most + 1, self._most_end - 1
        self._sorted[here], self._sorted[end] = self._sorted[end], self._sorted[here]
        self._most_end -= 1

    def _size(self, position: int) -> int:
        return self._sizes[self._sorted[position]]
