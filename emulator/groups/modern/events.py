"""What a write of the records of a group since KIP-848 changes, added to the log of events.

A group is compared before and after: who came and went, whether its epoch rose (a rebalance began),
and whether all members have now reached their target (it has ended). Members of share groups have
their partitions at once, so that these groups do not rebalance.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from ..runtime import GroupEvents
from .group import GroupState, ModernGroup
from .member import STATIC_LEAVE_EPOCH, ModernMember


class Departure(NamedTuple):
    """How members go: the kind of event, and why."""

    kind: str
    reason: str = ""


LEFT = Departure("left")
KICKED = Departure("kicked")


@contextmanager
def logged(
    events: GroupEvents,
    group: ModernGroup[Any, Any],
    departure: Departure = LEFT,
    why: str = "",
) -> Iterator[None]:
    """Add what has changed at the end. `why` the group rebalances follows from that if it is not
    given."""
    if not events.is_on:
        yield
        return
    members, epoch = dict(group.members), group.epoch
    was_stable = not members or group.state == GroupState.STABLE
    yield
    come = [each for name, each in group.members.items() if name not in members]
    gone = [each for name, each in members.items() if name not in group.members]
    instances = {each.instance_id for each in come if each.instance_id is not None}
    gone = [each for each in gone if each.instance_id not in instances]
    number = {"members": len(group.members)}
    for each in gone:
        events.add(group.group_id, departure.kind, each, departure.reason, number)
    for each in come:
        events.add(group.group_id, "joined", each, details=number)
    for name, each in group.members.items():
        was = members.get(name)
        if was is not None and each.epoch == STATIC_LEAVE_EPOCH != was.epoch:
            events.add(group.group_id, "away", each)
    if not group.members or not group.rebalances:
        return
    if group.epoch > epoch or (come and not members):
        reason = why or _why(come, gone, departure) or group.changes
        events.add(group.group_id, "rebalance begun", reason=reason)
        was_stable = False
    if not was_stable and group.state == GroupState.STABLE:
        end = {"generation": group.epoch, "members": len(group.members)}
        events.add(group.group_id, "rebalance finished", details=end)


def _why(
    come: Collection[ModernMember[Any]],
    gone: Collection[ModernMember[Any]],
    departure: Departure,
) -> str:
    if come:
        return "a member joined"
    if not gone:
        return ""
    return f"a member's {departure.kind}" if departure.kind.startswith("s") else "a member left"
