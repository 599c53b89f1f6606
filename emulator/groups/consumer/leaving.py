"""Members that leave a consumer group, or are removed from it (KIP-848).

Rules (semantics G16, G21, G26):
- Epoch -1 leaves. A static member that sends -2 keeps all it has until its session ends, as if it
  had got it in epoch 0; meanwhile a member with another id may take over its instance.
- With a member its target is removed; the group's epoch rises by one, however many leave at once.
  An expression that nobody subscribes to any more is deleted.
- If only members of the classic protocol are left, the group becomes a classic one (conversion.py),
  unless `group.consumer.migration.policy` forbids it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from ....wire.errors import Error, Refused
from ..classic.messages import NO_MEMBER, Leaver, Left
from ..records import MessageRecord
from .group import ConsumerGroup, Due
from .heartbeat import Outcome, check_instance
from .members import STATIC_LEAVE_EPOCH, ConsumerMember
from .messages import Beat, BeatAnswer
from .records import current_record, group_record, member_tombstones, regex_tombstone


def leaver(group: ConsumerGroup, beat: Beat) -> ConsumerMember:
    """The member that a heartbeat asks to leave for. Raises Refused: UNKNOWN_MEMBER_ID,
    FENCED_INSTANCE_ID."""
    if beat.instance_id is None:
        return group.member(beat.member_id)
    holder = group.instance(beat.instance_id)
    return check_instance(holder, beat.instance_id, beat.member_id)


def leave_for_a_while(group: ConsumerGroup, member: ConsumerMember) -> Outcome:
    """A static member leaves, and may come back within its session."""
    # The epochs in which it got its partitions become 0: its successor may commit in any epoch.
    kept = {topic: dict.fromkeys(held, 0) for topic, held in member.assigned.items()}
    away = replace(member, epoch=STATIC_LEAVE_EPOCH, assigned=kept, revoking={})
    records = [current_record(group.group_id, away)]
    return Outcome(records, BeatAnswer(member.member_id, STATIC_LEAVE_EPOCH))


def removal(group: ConsumerGroup, members: Collection[ConsumerMember]) -> list[MessageRecord]:
    """The records of removing members."""
    gone = {member.member_id for member in members}
    records = [
        record for one in members for record in member_tombstones(group.group_id, one.member_id)
    ]
    staying = [member for member in group if member.member_id not in gone]
    wanted = {member.regex for member in staying}
    left = dict.fromkeys(member.regex for member in members if member.regex)
    records += [regex_tombstone(group.group_id, text) for text in left if text not in wanted]
    names = [member.names for member in staying]
    names += [found.topics for text, found in group.regexes.items() if text in wanted]
    metadata_hash = group.view.hash_of(frozenset().union(*names))
    records.append(group_record(group.group_id, group.epoch + 1, metadata_hash))
    return records


def named_by_leave_group(
    group: ConsumerGroup, leavers: Sequence[Leaver]
) -> tuple[list[ConsumerMember], tuple[Left, ...]]:
    """LeaveGroup: the members to remove, and the answer for each that was named."""
    going: dict[str, ConsumerMember] = {}
    answers = []
    for each in leavers:
        member_id, instance_id = each.member_id, each.instance_id
        error = Error.NONE
        try:
            if instance_id is None:
                member = group.member(member_id)
            else:
                member = _instance(group, member_id, instance_id)
            going[member.member_id] = member
        except Refused as refusal:
            error = refusal.error
        answers.append(Left(member_id, instance_id, error))
    return list(going.values()), tuple(answers)


def _instance(group: ConsumerGroup, member_id: str, instance_id: str) -> ConsumerMember:
    """The member by its instance; an administrator gives no member id."""
    holder = group.instance(instance_id)
    if holder is not None and member_id == NO_MEMBER:
        return holder
    return check_instance(holder, instance_id, member_id)


def overdue(group: ConsumerGroup, due: Due, member_id: str) -> ConsumerMember | None:
    """The member to remove because this deadline has passed; None if it does not apply any more."""
    member = group.members.get(member_id)
    if member is None:
        return None
    if due is Due.REBALANCE and group.revoking_epochs.get(member_id) != member.epoch:
        return None
    return member
