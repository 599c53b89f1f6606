"""The common parts of heartbeats of every type of group since KIP-848."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

from ....wire.errors import Error, Refused
from ..records import MessageRecord
from ..settings import ConfigsOf
from .group import Due, ModernGroup, T
from .member import MemberState, ModernMember

Group: TypeAlias = ModernGroup[Any, Any]


class GroupTimes(NamedTuple):
    """The times by a group's configs: milliseconds each, and the number of standbys of each task.
    The last two are those of streams groups."""

    session_timeout_ms: int
    heartbeat_interval_ms: int
    assignment_interval_ms: int
    initial_rebalance_delay_ms: int = 0
    standbys: int = 0


TimesOf = Callable[[str], GroupTimes]
"""The times of a group, by its id, as they are now."""


def times_of(configs_of: ConfigsOf, group_type: str, *own: str) -> TimesOf:
    """The times in the configs of groups of a type; `own`: further ones, by their names."""
    names = ("session.timeout.ms", "heartbeat.interval.ms", "assignment.interval.ms", *own)
    configs = [f"{group_type}.{name}" for name in names]
    return lambda group_id: GroupTimes(*map(configs_of(group_id).get, configs))


def is_time(group: Group, times: GroupTimes, now: int) -> bool:
    """Whether a new target may be computed so soon after the last."""
    last, interval_ms = group.target_timestamp, times.assignment_interval_ms
    return last == 0 or interval_ms == 0 or now >= last + interval_ms


def full(group: Group) -> Refused:
    return Refused(
        Error.GROUP_MAX_SIZE_REACHED,
        f"The {group.type_name} group has reached its maximum capacity of {group.max_size}"
        " members.",
    )


def fenced(group: Group, member: ModernMember[Any], epoch: int, known: str = "") -> Refused:
    """A member has named an epoch that it cannot have; `known`: what the coordinator knows, if that
    is more than the member's epoch."""
    difference = "greater" if epoch > member.epoch else "smaller"
    return Refused(
        Error.FENCED_MEMBER_EPOCH,
        f"The {group.type_name} group member has a {difference} member epoch ({epoch}) than the one"
        f" known by the group coordinator {known or f'({member.epoch})'}. The member must abandon"
        " all its partitions and rejoin.",
    )


def new_targets(
    group: ModernGroup[Any, T], targets: Mapping[str, T], epoch: int, now: int
) -> Iterable[MessageRecord]:
    """The records of those targets that are new, and of their epoch."""
    for member_id, target in targets.items():
        if group.targets.get(member_id) != target:
            yield group.target_record(member_id, target)
    stamp = now if group.settings.stamps_assignments else 0
    yield group.records.target_epoch_record(group.group_id, epoch, stamp)


def time_revocation(group: Group, member: ModernMember[Any], now: int) -> None:
    """Start or stop the timer in which a member has to give up what it shall not keep."""
    key = (Due.REBALANCE, member.member_id)
    if member.state is MemberState.UNREVOKED:
        group.revoking_epochs[member.member_id] = member.epoch
        group.deadlines.set(key, now + max(member.rebalance_timeout_ms, 0))
    else:
        group.deadlines.clear(key)


def forget_timers(group: Group, member_ids: Iterable[str]) -> None:
    for member_id in member_ids:
        for due in (Due.SESSION, Due.REBALANCE, Due.JOIN, Due.SYNC):
            group.deadlines.clear((due, member_id))
        group.revoking_epochs.pop(member_id, None)
