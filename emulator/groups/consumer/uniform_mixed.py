"""The uniform assignor where members subscribe to different topics.

1. Every member keeps the partitions of topics it still subscribes to.
2. Unassigned partitions are assigned topic by topic, each to the subscriber with the fewest.
3. Partitions move from the subscribers of a topic with the most to those with the fewest, until no
   two of them differ by more than one, or nothing can be moved; all topics are processed again
   until a whole round has moved nothing (16 rounds at most).

Topics with many partitions a subscriber come first: they leave the least choice. In a tie the
member is chosen that comes first in a Java HashMap, so that the result is a real broker's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from .members import Assignment

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
