"""The server's assignors: which member shall have which partitions (KIP-848, semantics G22).

- range: members sorted by instance, then by id, each get a range of each topic they subscribe to;
  topics with as many partitions are therefore split the same way.
- uniform: all members get the same number of partitions, within one, and keep what they have as far
  as that allows. If members subscribe to different topics, see uniform_mixed.py.

Racks are not looked at. Where a choice is free, a real broker's follows from the order of its hash
maps; ours is the same (base/java_order.py). Assignors see only the last target assignment, not
epochs nor what a member has at the moment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ...base.java_order import id_order, int_order
from .members import Assignment
from .uniform_mixed import assign_mixed

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


def assign(name: str, specs: Specs, count: Count, *, homogeneous: bool) -> dict[str, Assignment]:
    """The new target of every member. `homogeneous`: all subscribe to the same topics. Members
    without any partition may be missing."""
    if not specs:
        return {}
    if name == RANGE:
        return _range(specs, count, homogeneous)
    if homogeneous:
        return _uniform(specs, count)
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


def _uniform(specs: Specs, count: Count) -> dict[str, Assignment]:
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
        if left and has_extra and len(specs) - index > extra:
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
    """What a member keeps, and how many more it may get; what exceeds the quota becomes free."""
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
