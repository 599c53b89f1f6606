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
from typing import NamedTuple, TypeAlias

from ....wire.api.share_group_heartbeat import (
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)
from ...base.call import Call
from ...base.java_order import hash_map_order, timeline_order
from ..classic.members import host_of
from ..modern.group import Due
from ..modern.heartbeat import GroupTimes, fenced, full, is_time, new_targets
from ..modern.member import JOINING_EPOCH
from ..records import MessageRecord
from . import states
from .assignor import ShareSpec, assign
from .group import ShareGroup
from .members import RECORDS, Assignment, ShareMember, TopicState, ordered, state_record

Request: TypeAlias = ShareGroupHeartbeatRequest
Response: TypeAlias = ShareGroupHeartbeatResponse


class Outcome(NamedTuple):
    """The records to write and then to apply, the answer after that, and the partitions whose state
    is to be initialised then, in this epoch."""

    records: list[MessageRecord]
    answer: Response
    initializes: dict[bytes, TopicState]
    epoch: int


def heartbeat(
    group: ShareGroup, call: Call, request: Request, times: GroupTimes, now: int
) -> Outcome:
    """The outcome of a heartbeat. Raises Refused: GROUP_MAX_SIZE_REACHED, UNKNOWN_MEMBER_ID,
    FENCED_MEMBER_EPOCH."""
    before, names = _member(group, request), request.subscribed_topic_names
    updated = replace(
        before,
        rack_id=before.rack_id if request.rack_id is None else request.rack_id,
        names=before.names if names is None else frozenset(names),
        client_id=call.client_id,
        client_host=host_of(call),
    )
    records: list[MessageRecord] = []
    if updated != before or request.member_id not in group.members:
        records.append(RECORDS.member_record(group.group_id, updated))
    epoch, is_raised = _group_epoch(group, before, updated, records)
    target_epoch, target = _target(group, updated, epoch, times, now, records)
    after = _reconciled(group, updated, target_epoch, target, is_raised)
    if after != updated:
        records.append(RECORDS.current_record(group.group_id, after))
    retry_ms = group.settings.share_initialize_retry_interval_ms
    missing = states.uninitialized(group, group.subscriptions(updated), now, retry_ms)
    said = states.initializing(group, missing)
    if said is not None:
        records.append(state_record(group.group_id, said))
    group.deadlines.set((Due.SESSION, after.member_id), now + times.session_timeout_ms)
    is_news = request.member_epoch == JOINING_EPOCH or names is not None
    is_news |= after.assigned != before.assigned
    answer = Response(
        member_id=after.member_id,
        member_epoch=after.epoch,
        heartbeat_interval_ms=times.heartbeat_interval_ms,
        assignment=_assignment(after.assigned) if is_news else None,
    )
    return Outcome(records, answer, missing, epoch)


def _assignment(held: Assignment) -> Response.Assignment:
    return Response.Assignment(
        topic_partitions=[
            Response.TopicPartitions(topic_id=topic_id, partitions=parts)
            for topic_id, parts in ordered(held)
        ]
    )


def _member(group: ShareGroup, request: Request) -> ShareMember:
    known = group.members.get(request.member_id)
    if known is None and len(group) >= group.max_size:
        raise full(group)
    may_join = known is None or group.settings.lets_members_rejoin
    if request.member_epoch == JOINING_EPOCH and may_join:
        return known or ShareMember(request.member_id)
    member = group.member(request.member_id)
    if request.member_epoch in (member.epoch, member.previous_epoch):
        return member
    known_epochs = f"({member.epoch})"
    if request.member_epoch < member.epoch:
        known_epochs += (
            f", and it does not match the previous member epoch ({member.previous_epoch})"
        )
    raise fenced(group, member, request.member_epoch, known_epochs)


def _group_epoch(
    group: ShareGroup, before: ShareMember, updated: ShareMember, records: list[MessageRecord]
) -> tuple[int, bool]:
    """The group's epoch after this, and whether it was raised."""
    is_raised = updated.names != before.names
    if group.target_epoch >= group.epoch:
        is_raised |= _has_unassigned(group)
    if not is_raised and group.checked_generation == group.view.generation:
        return group.epoch, False
    metadata_hash = group.view.hash_of(group.subscriptions(updated))
    if is_raised or metadata_hash != group.metadata_hash:
        records.append(group.record(group.epoch + 1, metadata_hash))
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
    updated: ShareMember,
    epoch: int,
    times: GroupTimes,
    now: int,
    records: list[MessageRecord],
) -> tuple[int, Assignment]:
    """The target assignment's epoch and the member's target; recomputed if it is time."""
    if group.target_epoch >= epoch or not is_time(group, times, now):
        return group.target_epoch, group.targets.get(updated.member_id, {})
    members = {**group.members, updated.member_id: updated}
    specs = {
        name: ShareSpec(group.view.ids(members[name].names), group.targets.get(name, {}))
        for name in hash_map_order(timeline_order(members, size=len(group) + 1))
    }
    assignable = {t: s.partitions for t, s in group.known_states.initialized.items()}
    alike = set(group.subscriptions(updated).values()) == {len(specs)}
    targets = assign(specs, assignable, homogeneous=alike)
    records += new_targets(group, targets, epoch, now)
    return epoch, targets[updated.member_id]


def _reconciled(
    group: ShareGroup, updated: ShareMember, epoch: int, target: Assignment, is_raised: bool
) -> ShareMember:
    if not is_raised and updated.epoch == epoch:
        return updated
    topics = group.view.ids(updated.names)
    assigned = {topic: parts for topic, parts in target.items() if topic in topics}
    if updated.epoch == epoch:
        return replace(updated, assigned=assigned)
    return replace(updated, epoch=epoch, previous_epoch=updated.epoch, assigned=assigned)
