"""One step of a member towards the target assignment (KIP-848).

Rules (semantics G18, G19), by the state of the member:
- STABLE: a newer target moves it; a changed subscription alone only removes topics that it no
  longer subscribes to.
- UNREVOKED: it stays until it reports partitions without those it has to give up.
- Partitions it shall not keep are given up first, in its old epoch. With none to give up it enters
  the target's epoch and gets the partitions that are free. For those that other members still have
  it waits (UNRELEASED).
- A topic that it does not subscribe to is not in its target, whatever the assignor returned.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Set
from typing import NamedTuple

from .members import Assignment, ConsumerMember, Epochs
from .states import MemberState

Owned = Mapping[bytes, Collection[int]]


class Goal(NamedTuple):
    """The target of a member, and what its next step depends on."""

    epoch: int
    target: Assignment
    subscribed: Set[bytes]
    """Those of the topics it subscribes to that exist."""
    asks: bool
    """Whether it subscribes to any topic."""
    subscription_changed: bool
    is_held: Callable[[bytes, int], bool]
    owned: Owned | None
    """The partitions that the member reports; None if it reports none."""


def reconcile(member: ConsumerMember, goal: Goal) -> ConsumerMember:
    """The member after this step; the same object if nothing changes."""
    if member.state is MemberState.STABLE:
        if member.epoch != goal.epoch:
            return _next(member, goal)
        return _unsubscribed(member, goal) if goal.subscription_changed else member
    if member.state is MemberState.UNREVOKED and _still_has(member.revoking, goal.owned):
        return _unsubscribed(member, goal) if goal.subscription_changed else member
    return _next(member, goal)


def _still_has(partitions: Epochs, owned: Owned | None) -> bool:
    """Whether a member may still have any of these; a member that does not report may."""
    if owned is None:
        return True
    return any(not partitions.get(topic, {}).keys().isdisjoint(own) for topic, own in owned.items())


def _unsubscribed(member: ConsumerMember, goal: Goal) -> ConsumerMember:
    """Remove the topics that the member does not subscribe to any more."""
    kept = {topic: parts for topic, parts in member.assigned.items() if topic in goal.subscribed}
    if not member.assigned and not member.revoking and not goal.asks:
        # Nothing to remove, but a real broker counts it as a step and writes a record.
        return member.moved(member.state, member.epoch, {}, {})
    if len(kept) == len(member.assigned):
        return member
    revoking = {topic: dict(parts) for topic, parts in member.revoking.items()}
    for topic, parts in member.assigned.items():
        if topic not in kept:
            revoking.setdefault(topic, {}).update(parts)
    if _still_has(revoking, goal.owned):
        return member.moved(MemberState.UNREVOKED, member.epoch, kept, revoking)
    return member.moved(member.state, member.epoch, kept, member.revoking)


def _next(member: ConsumerMember, goal: Goal) -> ConsumerMember:
    kept: dict[bytes, dict[int, int]] = {}
    revoking: dict[bytes, dict[int, int]] = {}
    free: dict[bytes, list[int]] = {}
    is_waiting = False
    for topic in dict.fromkeys((*goal.target, *member.assigned)):
        target = goal.target.get(topic, frozenset()) if topic in goal.subscribed else frozenset()
        for partition, epoch in member.assigned.get(topic, {}).items():
            place = kept if partition in target else revoking
            place.setdefault(topic, {})[partition] = epoch
        for partition in sorted(target.difference(kept.get(topic, ()))):
            # A partition that it has not given up yet itself is free for it.
            if goal.is_held(topic, partition) and partition not in member.revoking.get(topic, ()):
                is_waiting = True
            else:
                free.setdefault(topic, []).append(partition)
    if revoking and _still_has(revoking, goal.owned):
        return member.moved(MemberState.UNREVOKED, member.epoch, kept, revoking)
    for topic, partitions in free.items():
        kept.setdefault(topic, {}).update(dict.fromkeys(partitions, goal.epoch))
    state = MemberState.UNRELEASED if is_waiting else MemberState.STABLE
    return member.moved(state, goal.epoch, kept, {})
