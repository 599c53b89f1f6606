"""What a write of the records of a consumer or a streams group changes, told to the journal.

A group is compared before and after: who came and went, whether its epoch rose (a rebalance began),
and whether all members have now reached their target (it has ended).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple, Protocol

from ..telling import Telling, TellsOf
from .group import Due
from .members import STATIC_LEAVE_EPOCH
from .states import ConsumerGroupState


class TellsOfMember(TellsOf, Protocol):
    """A member, as far as this compares it."""

    @property
    def epoch(self) -> int: ...


class TellsOfGroup(Protocol):
    """A group since KIP-848, as far as this compares it."""

    @property
    def group_id(self) -> str: ...

    @property
    def epoch(self) -> int: ...

    @property
    def state(self) -> str: ...

    @property
    def members(self) -> Mapping[str, TellsOfMember]: ...


class Departure(NamedTuple):
    """How members go: the kind of event, and why."""

    kind: str
    reason: str = ""


LEFT = Departure("left")
KICKED = Departure("kicked")
OVERDUE = {
    Due.SESSION: Departure("session timed out", "no heartbeat within its session timeout"),
    Due.REBALANCE: Departure("kicked", "it did not give up its partitions in time"),
    Due.JOIN: Departure("kicked", "it did not join again in time"),
    Due.SYNC: Departure("kicked", "it did not ask for its assignment in time"),
}


@contextmanager
def told(
    telling: Telling,
    group: TellsOfGroup,
    departure: Departure = LEFT,
    why: str = "",
    change: str = "its subscriptions or their topics changed",
) -> Iterator[None]:
    """Tell what has changed at the end. `why` the group rebalances follows from that if it is not
    given; `change`: what else than members that come and go makes it."""
    if not telling.is_on:
        yield
        return
    members, epoch = dict(group.members), group.epoch
    was_stable = not members or group.state == ConsumerGroupState.STABLE
    yield
    come = [each for name, each in group.members.items() if name not in members]
    gone = [each for name, each in members.items() if name not in group.members]
    instances = {each.instance_id for each in come if each.instance_id is not None}
    gone = [each for each in gone if each.instance_id not in instances]
    _tell_members(telling, group, come, gone, departure)
    for name, each in group.members.items():
        was = members.get(name)
        if was is not None and each.epoch == STATIC_LEAVE_EPOCH != was.epoch:
            telling.tell(group.group_id, "away", each)
    if not group.members:
        return
    if group.epoch > epoch or (come and not members):
        telling.tell(
            group.group_id, "rebalance begun", reason=why or _why(come, gone, departure, change)
        )
        was_stable = False
    if not was_stable and group.state == ConsumerGroupState.STABLE:
        end = {"generation": group.epoch, "members": len(group.members)}
        telling.tell(group.group_id, "rebalance finished", details=end)


def _tell_members(
    telling: Telling,
    group: TellsOfGroup,
    come: Collection[TellsOfMember],
    gone: Collection[TellsOfMember],
    departure: Departure,
) -> None:
    number = {"members": len(group.members)}
    for each in gone:
        telling.tell(group.group_id, departure.kind, each, departure.reason, number)
    for each in come:
        telling.tell(group.group_id, "joined", each, details=number)


def _why(
    come: Collection[TellsOfMember],
    gone: Collection[TellsOfMember],
    departure: Departure,
    change: str,
) -> str:
    if come:
        return "a member joined"
    if not gone:
        return change
    return f"a member's {departure.kind}" if departure.kind.startswith("s") else "a member left"
