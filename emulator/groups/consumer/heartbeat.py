"""ConsumerGroupHeartbeat of a member that joins, stays or leaves (KIP-848).

Rules (semantics G15-G21, G26), in their order:
- The group takes no more members than `group.consumer.max.size` (81).
- Epoch 0 joins, also if the member is here already. Another epoch than the member's is fenced
  (110), except its previous one if all partitions it reports are assigned to it: then an answer was
  lost.
- A static member that joins takes over its instance, if the one before sent -2 (else 111).
- What the member reports changes it. Other topics raise the group's epoch, and so do topics that
  were created, deleted or grew since the last check.
- If the group's epoch is higher than the target assignment's, a new target is computed, but not
  within `consumer.assignment.interval.ms` of the last; until then members go on towards the old
  one.
- Then the member goes one step towards its target (members.py).
- The answer holds its assignment if that changed, if it joins, or if the request was a full one.
- Epoch -1 leaves. A static member that sends -2 keeps all it has until its session ends, as if it
  had got it in epoch 0; meanwhile a member with another id may take over its instance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from ....wire.api.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from ....wire.errors import Error, Refused
from ...base.call import Call
from ...base.java_order import hash_map_order, int_order
from ..classic.members import host_of
from ..modern.group import Due
from ..modern.heartbeat import GroupTimes, fenced, full, is_time, new_targets, time_revocation
from ..modern.member import JOINING_EPOCH, NO_TIMEOUT, STATIC_LEAVE_EPOCH
from ..records import MessageRecord
from .assignors import MemberSpec, assign
from .group import ConsumerGroup
from .members import (
    RECORDS,
    Assignment,
    ConsumerMember,
    Epochs,
    Goal,
    Owned,
    partition_metadata_tombstone,
    reconcile,
    same_partitions,
)
from .regex import METADATA_REFRESH_INTERVAL_MS, RegexChange, Subscriptions, update_regexes

Request: TypeAlias = ConsumerGroupHeartbeatRequest
Response: TypeAlias = ConsumerGroupHeartbeatResponse


class Outcome(NamedTuple):
    """The records to write and then to apply, and the answer after that."""

    records: list[MessageRecord]
    answer: Response


def heartbeat(
    group: ConsumerGroup,
    call: Call,
    request: Request,
    times: GroupTimes,
    now: int,
    sees: Callable[[str], bool] | None = None,
) -> Outcome:
    """The outcome of a heartbeat; `sees`: whether the client may describe a topic, None if nobody
    asks. An expression matches no others. Raises Refused: GROUP_MAX_SIZE_REACHED,
    UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH, UNRELEASED_INSTANCE_ID, FENCED_INSTANCE_ID,
    INVALID_REGULAR_EXPRESSION."""
    records: list[MessageRecord] = []
    check_room(group, request.member_id)
    owned = _owned(request)
    before = _subscribing_member(group, request, owned, records)
    updated = _updated(before, call, request)
    group.sees = sees
    step = Step(group, before, updated, owned, times, now)
    after = step.take(records)
    group.deadlines.set((Due.SESSION, after.member_id), now + times.session_timeout_ms)
    is_news = (
        request.member_epoch == JOINING_EPOCH
        or _is_full(request)
        or not same_partitions(before.assigned, after.assigned)
    )
    answer = Response(
        member_id=after.member_id,
        member_epoch=after.epoch,
        heartbeat_interval_ms=times.heartbeat_interval_ms,
        assignment=_assignment(after.assigned) if is_news else None,
    )
    return Outcome(records, answer)


def _owned(request: Request) -> Owned | None:
    """The partitions that a member reports, by topic id; None if it reports none."""
    if request.topic_partitions is None:
        return None
    owned: dict[bytes, list[int]] = {}
    for topic in request.topic_partitions:
        owned.setdefault(topic.topic_id, []).extend(topic.partitions)
    return owned


def _is_full(request: Request) -> bool:
    """Whether it holds all that a joining member has to send."""
    names, regex = request.subscribed_topic_names, request.subscribed_topic_regex
    says_topics = names is not None or regex is not None
    owns = request.topic_partitions is not None
    return request.rebalance_timeout_ms != NO_TIMEOUT and says_topics and owns


def _assignment(held: Epochs) -> Response.Assignment:
    return Response.Assignment(
        topic_partitions=[
            Response.TopicPartitions(topic_id=topic_id, partitions=int_order(partitions))
            for topic_id, partitions in held.items()
        ]
    )


def check_room(group: ConsumerGroup, member_id: str) -> None:
    """Raises Refused(GROUP_MAX_SIZE_REACHED) if the group is full."""
    if len(group) >= group.max_size and member_id not in group.members:
        raise full(group)


def _subscribing_member(
    group: ConsumerGroup, request: Request, owned: Owned | None, records: list[MessageRecord]
) -> ConsumerMember:
    """The member before the heartbeat: known, new, or replacing another."""
    if request.instance_id is None:
        known = group.members.get(request.member_id)
        if known is None and request.member_epoch != JOINING_EPOCH:
            return group.member(request.member_id)  # raises
        member = known or ConsumerMember(request.member_id)
        check_epoch(group, member, request.member_epoch, owned)
        return member
    holder = group.instance(request.instance_id)
    if request.member_epoch != JOINING_EPOCH:
        member = check_instance(holder, request.instance_id, request.member_id)
        check_epoch(group, member, request.member_epoch, owned)
        return member
    if holder is None:
        return group.members.get(request.member_id) or ConsumerMember(request.member_id)
    if not holder.is_classic and holder.epoch != STATIC_LEAVE_EPOCH:
        message = (
            f"Static member {request.member_id} with instance id {request.instance_id} cannot join"
            f" the group because the instance id is owned by {holder.member_id} member."
        )
        raise Refused(Error.UNRELEASED_INSTANCE_ID, message)
    return take_over(group, holder, request.member_id, records)


def take_over(
    group: ConsumerGroup, holder: ConsumerMember, member_id: str, records: list[MessageRecord]
) -> ConsumerMember:
    """The holder of an instance under a new member id; it is reconciled from the start."""
    renamed = replace(
        holder, member_id=member_id, epoch=JOINING_EPOCH, previous_epoch=JOINING_EPOCH
    )
    records += RECORDS.member_tombstones(group.group_id, holder.member_id)
    records.append(RECORDS.member_record(group.group_id, renamed))
    records.append(group.target_record(member_id, group.targets.get(holder.member_id, {})))
    records.append(group.current_record(renamed))
    return renamed


def check_instance(
    holder: ConsumerMember | None, instance_id: str, member_id: str
) -> ConsumerMember:
    """The holder of an instance, if it is this member. Raises Refused: UNKNOWN_MEMBER_ID,
    FENCED_INSTANCE_ID."""
    if holder is None:
        raise Refused(Error.UNKNOWN_MEMBER_ID, f"Instance id {instance_id} is unknown.")
    if holder.member_id != member_id:
        message = (
            f"Static member {member_id} with instance id {instance_id} was fenced by member"
            f" {holder.member_id}."
        )
        raise Refused(Error.FENCED_INSTANCE_ID, message)
    return holder


def check_epoch(
    group: ConsumerGroup, member: ConsumerMember, epoch: int, owned: Owned | None
) -> None:
    """Raises Refused(FENCED_MEMBER_EPOCH) for an epoch that the member cannot have."""
    if epoch == member.epoch:
        return
    if epoch == JOINING_EPOCH and group.settings.lets_members_rejoin:
        return
    is_previous = epoch == member.previous_epoch and epoch < member.epoch
    if not (is_previous and _is_part(owned, member)):
        raise fenced(group, member, epoch)


def _is_part(owned: Owned | None, member: ConsumerMember) -> bool:
    return owned is not None and all(
        topic in member.assigned and member.assigned[topic].keys() >= set(own)
        for topic, own in owned.items()
    )


def _updated(member: ConsumerMember, call: Call, request: Request) -> ConsumerMember:
    """The member with what it reports; what it does not report stays."""
    timeout = request.rebalance_timeout_ms
    names, regex = request.subscribed_topic_names, request.subscribed_topic_regex
    return replace(
        member,
        instance_id=member.instance_id if request.instance_id is None else request.instance_id,
        rack_id=member.rack_id if request.rack_id is None else request.rack_id,
        rebalance_timeout_ms=member.rebalance_timeout_ms if timeout == NO_TIMEOUT else timeout,
        assignor=member.assignor if request.server_assignor is None else request.server_assignor,
        names=member.names if names is None else frozenset(names),
        regex=member.regex if regex is None else regex,
        client_id=call.client_id,
        client_host=host_of(call),
        classic=None,
    )


class Step:
    """The consequences of a change of a member: for the group, its target, and the member.

    Also used for members that speak the classic protocol (calls.py)."""

    def __init__(
        self,
        group: ConsumerGroup,
        before: ConsumerMember,
        updated: ConsumerMember,
        owned: Owned | None,
        times: GroupTimes,
        now: int,
    ) -> None:
        self.group = group
        self.before = before
        self.updated = updated
        self.owned = owned
        self.times = times
        self.now = now
        self.subscriptions = Subscriptions(group, updated)
        self.has_changed_topics = False
        # Set if the topics changed; else the group's value counts.
        self.is_homogeneous: bool | None = None

    def take(self, records: list[MessageRecord]) -> ConsumerMember:
        """The member after the step; its records are added to `records`."""
        epoch = self.group_epoch(records, needs_resolved=True)
        target_epoch, target = self.target(epoch, records)
        return self.reconciled(target_epoch, target, records)

    def group_epoch(self, records: list[MessageRecord], *, needs_resolved: bool) -> int:
        """The group's epoch after the step, raised if the topics changed; adds the records of the
        member and of the epoch. `needs_resolved`: an expression that is not resolved yet does not
        count as a change."""
        group = self.group
        has_names_changed = self.before.names != self.updated.names
        if self.updated != self.before:
            records.append(RECORDS.member_record(group.group_id, self.updated))
        change = update_regexes(group, self.before, self.updated, records, self.now)
        self.has_changed_topics = has_names_changed or change is not RegexChange.NONE
        bumps = self.has_changed_topics
        if needs_resolved:
            bumps = has_names_changed or change is RegexChange.RESOLVED
        is_due = self.now >= group.refresh_at
        if not (bumps or is_due) and group.checked_generation == group.view.generation:
            return group.epoch
        names = self.subscriptions.names()
        topics = group.view.hashes_of(names)
        is_due |= topics != {n: h for n, h in group.checked_topics.items() if n in names}
        metadata_hash = group.view.hash_of(names)
        epoch = group.epoch
        records += group.topics_records(names, metadata_hash)
        bumps |= metadata_hash != group.metadata_hash or epoch < 1
        if bumps or is_due:
            self.is_homogeneous = self.subscriptions.homogeneous()
            group.refresh_at = self.now + METADATA_REFRESH_INTERVAL_MS
            group.checked_topics = topics
        if bumps:
            epoch += 1
            records.append(group.record(epoch, metadata_hash))
        else:  # if the epoch is raised but the write refused, the next heartbeat checks again
            group.checked_generation = group.view.generation
        if group.has_partition_metadata:
            records.append(partition_metadata_tombstone(group.group_id))
        return epoch

    def target(self, epoch: int, records: list[MessageRecord]) -> tuple[int, Assignment]:
        """The target assignment's epoch and the member's target; recomputed if it is time."""
        group = self.group
        if epoch <= group.target_epoch or not is_time(group, self.times, self.now):
            return group.target_epoch, group.target_of(self.updated)
        specs = self._specs()
        name = group.preferred_assignor(self.updated)
        alike = group.is_homogeneous if self.is_homogeneous is None else self.is_homogeneous
        leaves_extra = group.settings.leaves_extra_partitions
        targets = assign(
            name, specs, group.view.count, homogeneous=alike, leaves_extra=leaves_extra
        )
        of_all = {member_id: targets.get(member_id, {}) for member_id in specs}
        records += new_targets(group, of_all, epoch, self.now)
        return epoch, targets.get(self.updated.member_id, {})

    def _specs(self) -> dict[str, MemberSpec]:
        group, updated = self.group, self.updated
        replaced = group.instance(updated.instance_id)
        specs = {}
        for member in self.subscriptions.members():
            target = group.targets.get(member.member_id, {})
            if (
                member is updated
                and replaced is not None
                and replaced.member_id != updated.member_id
            ):
                target = group.targets.get(replaced.member_id, {})
            topics = group.view.ids(group.names_of(member))
            specs[member.member_id] = MemberSpec(member.instance_id, topics, target)
        return {member_id: specs[member_id] for member_id in hash_map_order(specs)}

    def reconciled(
        self, target_epoch: int, target: Assignment, records: list[MessageRecord]
    ) -> ConsumerMember:
        group, updated = self.group, self.updated
        if not self.has_changed_topics and updated.is_reconciled_to(target_epoch):
            return updated
        names = group.names_of(updated)
        goal = Goal(
            *(target_epoch, target, group.view.ids(names), bool(names)),
            *(self.has_changed_topics, group.is_held, self.owned),
            group.settings.frees_own_partitions,
        )
        after = reconcile(updated, goal)
        if after == updated:
            return updated
        records.append(group.current_record(after))
        if not after.is_classic:
            time_revocation(group, after, self.now)
        return after


def leaver(group: ConsumerGroup, request: Request) -> ConsumerMember:
    """The member that a heartbeat asks to leave for. Raises Refused: UNKNOWN_MEMBER_ID,
    FENCED_INSTANCE_ID."""
    if request.instance_id is None:
        return group.member(request.member_id)
    holder = group.instance(request.instance_id)
    return check_instance(holder, request.instance_id, request.member_id)


def leave_for_a_while(group: ConsumerGroup, member: ConsumerMember) -> Outcome:
    """A static member leaves, and may come back within its session."""
    # The epochs in which it got its partitions become 0: its successor may commit in any epoch.
    kept = {topic: dict.fromkeys(held, 0) for topic, held in member.assigned.items()}
    away = replace(member, epoch=STATIC_LEAVE_EPOCH, assigned=kept, revoking={})
    records = [group.current_record(away)]
    answer = Response(member_id=member.member_id, member_epoch=STATIC_LEAVE_EPOCH)
    return Outcome(records, answer)
