"""The target assignment of a streams group: its members, its topology and the assignor."""

from __future__ import annotations

from collections.abc import Mapping

from ...base.java_order import hash_map_order, timeline_order
from ..records import MessageRecord
from .assignor import MemberSpec, Work, assign
from .configured import Configured
from .group import StreamsGroup
from .members import StreamsMember
from .records import target_epoch_record, target_record
from .tasks import NOTHING, Target


def new_targets(
    group: StreamsGroup,
    configured: Configured,
    epoch: int,
    standbys: int,
    now: int,
    told: StreamsMember | None = None,
) -> tuple[Mapping[str, Target], list[MessageRecord]]:
    """The targets of all members, and the records of those that are new and of the epoch. `told`:
    the member that is sending a heartbeat, as it is by that. Nobody gets anything while the topics
    do not fit the topology."""
    names = timeline_order(group.members, size=len(group) + 1)
    members = {name: group.members[name] for name in names}
    if told is not None:
        members[told.member_id] = told
    members = {name: members[name] for name in hash_map_order(members)}
    targets: Mapping[str, Target] = dict.fromkeys(members, NOTHING)
    if configured.is_ready and configured.subtopologies is not None:
        specs = {
            name: MemberSpec(member.process_id, group.targets.get(name, NOTHING))
            for name, member in members.items()
        }
        work = {
            name: Work(each.tasks, bool(each.changelogs))
            for name, each in configured.subtopologies.items()
        }
        targets = assign(specs, work, standbys)
    records = [
        target_record(group.group_id, name, targets[name])
        for name in members
        if group.targets.get(name) != targets[name]
    ]
    return targets, [*records, target_epoch_record(group.group_id, epoch, now)]
