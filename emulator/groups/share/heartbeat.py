"""ShareGroupHeartbeat of a member that joins, stays or leaves (KIP-932).

Rules (semantics N1-N4), in their order:
- The group takes no more members than `group.share.max.size` (81). Epoch 0 joins; another epoch
  than the member's or its previous one is fenced (110).
- Other topics of a member raise the group's epoch, and so do topics that were created, deleted or
  grew, and partitions whose state was initialised and that are not assigned yet.
- If the group's epoch is higher than the target assignment's, a new target is computed, but not
  within `share.assignment.interval.ms` of the last. It holds at once: nothing is handed over.
- The answer holds the assignment if that changed, if the member joins, or if it names its topics.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from ....wire.errors import Error, Refused
from ...base.java_order import hash_map_order, timeline_order
from ..records import MessageRecord
from . import states
from .assignor import ShareSpec, assign
from .group import ShareGroup
from .members import JOINING_EPOCH, Assignment, ShareBeat, ShareBeatAnswer, ShareMember
from .records import (
    TopicState,
    current_record,
    group_record,
    member_record,
    member_tombstones,
    state_record,
    target_epoch_record,
    target_record,
)


class ShareTimes(NamedTuple):
    """Milliseconds each."""

    session_timeout_ms: int
    heartbeat_interval_ms: int
    assignment_interval_ms: int


class Outcome(NamedTuple):
    """The records to write and then to apply, the answer after that, and the partitions whose state
    is to be initialised then, in this epoch."""

    records: list[MessageRecord]
    answer: ShareBeatAnswer
    initializes: dict[bytes, TopicState]
    epoch: int


def heartbeat(group: ShareGroup, beat: ShareBeat, times: ShareTimes, now: int) -> Outcome:
    """What a heartbeat leads to. Raises Refused: GROUP_MAX_SIZE_REACHED, UNKNOWN_MEMBER_ID,
    FENCED_MEMBER_EPOCH."""
    before = _member(group, beat)
    told = replace(
        before,
        rack_id=before.rack_id if beat.rack_id is None else beat.rack_id,
        names=before.names if beat.names is None else frozenset(beat.names),
        client_id=beat.client_id,
        client_host=beat.client_host,
    )
    records: list[MessageRecord] = []
    if told != before or beat.member_id not in group.members:
        records.append(member_record(group.group_id, told))
    epoch, is_raised = _group_epoch(group, before, told, records)
    target_epoch, target = _target(group, told, epoch, times, now, records)
    after = _reconciled(group, told, target_epoch, target, is_raised)
    if after != told:
        records.append(current_record(group.group_id, after))
    retry_ms = group.settings.share_initialize_retry_interval_ms
    missing = states.uninitialized(group, group.subscriptions(told), now, retry_ms)
    said = states.initializing(group, missing)
    if said is not None:
        records.append(state_record(group.group_id, said))
    group.deadlines.set(after.member_id, now + times.session_timeout_ms)
    is_news = beat.epoch == JOINING_EPOCH or beat.names is not None
    answer = ShareBeatAnswer(
        after.member_id,
        after.epoch,
        times.heartbeat_interval_ms,
        after.assigned if is_news or after.assigned != before.assigned else None,
    )
    return Outcome(records, answer, missing, epoch)


def removal(group: ShareGroup, member: ShareMember) -> list[MessageRecord]:
    """The records of removing a member."""
    names = group.subscriptions()
    names.subtract(member.names)
    rest = [name for name, count in names.items() if count > 0]
    return [
        *member_tombstones(group.group_id, member.member_id),
        group_record(group.group_id, group.epoch + 1, group.view.hash_of(rest)),
    ]


def _member(group: ShareGroup, beat: ShareBeat) -> ShareMember:
    """The member before the heartbeat."""
    known = group.members.get(beat.member_id)
    most = group.settings.share_max_size
    if known is None and len(group.members) >= most:
        message = f"The share group has reached its maximum capacity of {most} members."
        raise Refused(Error.GROUP_MAX_SIZE_REACHED, message)
    if beat.epoch == JOINING_EPOCH:
        return known or ShareMember(beat.member_id)
    _check_epoch(group.member(beat.member_id), beat.epoch)
    return group.member(beat.member_id)


def _check_epoch(member: ShareMember, epoch: int) -> None:
    """Raises Refused(FENCED_MEMBER_EPOCH) for an epoch that the member cannot have."""
    if epoch in (member.epoch, member.previous_epoch):
        return
    if epoch > member.epoch:
        difference, known = "greater", f"({member.epoch})"
    else:
        difference = "smaller"
        known = (
            f"({member.epoch}), and it does not match the previous member epoch"
            f" ({member.previous_epoch})"
        )
    message = (
        f"The share group member has a {difference} member epoch ({epoch}) than the one known by"
        f" the group coordinator {known}. The member must abandon all its partitions and rejoin."
    )
    raise Refused(Error.FENCED_MEMBER_EPOCH, message)


def _group_epoch(
    group: ShareGroup, before: ShareMember, told: ShareMember, records: list[MessageRecord]
) -> tuple[int, bool]:
    """The group's epoch after this, and whether it was raised."""
    is_raised = told.names != before.names
    if group.target_epoch >= group.epoch:
        is_raised |= _has_unassigned(group)
    if not is_raised and group.checked_generation == group.view.generation:
        return group.epoch, False
    metadata_hash = group.view.hash_of(group.subscriptions(told))
    if is_raised or metadata_hash != group.metadata_hash:
        records.append(group_record(group.group_id, group.epoch + 1, metadata_hash))
        return group.epoch + 1, True
    group.checked_generation = group.view.generation
    return group.epoch, False


def _has_unassigned(group: ShareGroup) -> bool:
    """Whether a topic has other partitions with a state than are assigned to anybody."""
    if not group.members:
        return False
    names = group.subscriptions()
    assigned: dict[bytes, set[int]] = {}
    for target in group.targets.values():
        for topic_id, parts in target.items():
            assigned.setdefault(topic_id, set()).update(parts)
    return any(
        topic.name in names and assigned.get(topic_id, set()) != set(topic.partitions)
        for topic_id, topic in group.known_states.initialized.items()
    )


def _target(
    group: ShareGroup,
    told: ShareMember,
    epoch: int,
    times: ShareTimes,
    now: int,
    records: list[MessageRecord],
) -> tuple[int, Assignment]:
    """The target assignment's epoch and the member's target; recomputed if it is time."""
    last, interval_ms = group.target_timestamp, times.assignment_interval_ms
    is_time = last == 0 or interval_ms == 0 or now >= last + interval_ms
    if group.target_epoch >= epoch or not is_time:
        return group.target_epoch, group.targets.get(told.member_id, {})
    members = {**group.members, told.member_id: told}
    specs = {
        member_id: ShareSpec(
            group.view.ids(members[member_id].names), group.targets.get(member_id, {})
        )
        for member_id in hash_map_order(timeline_order(members, size=len(group.members) + 1))
    }
    assignable = {t: s.partitions for t, s in group.known_states.initialized.items()}
    alike = set(group.subscriptions(told).values()) == {len(members)}
    targets = assign(specs, assignable, homogeneous=alike)
    for member_id, target in targets.items():
        if group.targets.get(member_id) != target:
            records.append(target_record(group.group_id, member_id, target))
    records.append(target_epoch_record(group.group_id, epoch, now))
    return epoch, targets[told.member_id]


def _reconciled(
    group: ShareGroup, told: ShareMember, epoch: int, target: Assignment, is_raised: bool
) -> ShareMember:
    """The member with its target."""
    if not is_raised and told.epoch == epoch:
        return told
    topics = group.view.ids(told.names)
    assigned = {topic: parts for topic, parts in target.items() if topic in topics}
    if told.epoch == epoch:
        return replace(told, assigned=assigned)
    return replace(told, epoch=epoch, previous_epoch=told.epoch, assigned=assigned)
