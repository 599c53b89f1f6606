"""JoinGroup, SyncGroup, Heartbeat and LeaveGroup of members that ask for a consumer group.

Rules (semantics G26):
- A Join to a consumer group with members makes a mixed group. An Empty one makes way for a classic
  group.
- Sync, Heartbeat and Leave are answered here; Leave also removes members of the new protocol.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....wire.errors import Error, Refused
from ..classic.calls import ClassicCalls
from ..classic.effects import Token
from ..classic.messages import (
    HeartbeatRequest,
    JoinAnswer,
    JoinRequest,
    LeaveAnswer,
    Leaver,
    SyncAnswer,
    SyncRequest,
)
from ..records import MessageRecord
from ..runtime import Runtime
from ..shard import Shard
from . import classic_members
from .classic_members import Joining
from .conversion import may_downgrade
from .group import ConsumerGroup
from .leaving import named_by_leave_group
from .members import ConsumerMember
from .telling import KICKED, LEFT
from .times import TimesOf
from .writing import GroupWriter


class ClassicMembers:
    """How consumer groups answer members that speak the classic protocol."""

    def __init__(
        self, runtime: Runtime, classic: ClassicCalls, writer: GroupWriter, group_times: TimesOf
    ) -> None:
        self._runtime = runtime
        self._classic = classic
        self._writer = writer
        self._times_of = group_times

    def makes_way(self, group: ConsumerGroup) -> bool:
        """Whether a new classic group may replace this one."""
        return not group.members

    def join(self, shard: Shard, group: ConsumerGroup, token: Token, request: JoinRequest) -> None:
        """Answer a JoinGroup."""
        joining = Joining(group, request, self._runtime.new_uuid())
        try:
            if joining.needs_id():
                answer = JoinAnswer(Error.MEMBER_ID_REQUIRED, joining.member_id)
                self._classic.send(token, answer)
                return
            answer = self._joined(shard, group, joining)
        except Refused as refusal:
            answer = JoinAnswer(refusal.error)
        self._runtime.note_deadline(shard.groups[group.group_id])
        self._classic.send(token, answer)

    def _joined(self, shard: Shard, group: ConsumerGroup, joining: Joining) -> JoinAnswer:
        now, records = self._runtime.now(), joining.records
        step = joining.step(self._times_of(group.group_id), now)
        replaced = joining.replaced
        epoch = step.group_epoch(records, needs_resolved=False)
        if replaced is not None and may_downgrade(group, [replaced], [step.told]):
            member = step.told
            if not step.has_changed_topics:
                target = group.target_of(member)
                member = step.reconciled(group.target_epoch, target, records)
            self._downgrade_by(shard, group, replaced, member, records, step.has_changed_topics)
            return joining.answer(member)
        target_epoch, target = step.target(epoch, records)
        member = step.reconciled(target_epoch, target, records)
        self._writer.write(shard, group, records)
        joining.start_timers(group, now)
        return joining.answer(member)

    def _downgrade_by(
        self,
        shard: Shard,
        group: ConsumerGroup,
        replaced: ConsumerMember,
        member: ConsumerMember,
        records: list[MessageRecord],
        rebalances: bool,
    ) -> None:
        """The last member of the new protocol was replaced by one of the classic protocol."""
        staying = [one for one in group if one.member_id != replaced.member_id]
        gone = group.tombstones(instead={replaced.member_id: member.member_id})
        self._writer.downgrade(
            shard, group, [*staying, member], rebalances=rebalances, first=records, gone=gone
        )

    def sync(self, group: ConsumerGroup, token: Token, request: SyncRequest) -> None:
        """Answer a SyncGroup."""
        try:
            answer = classic_members.sync(group, request, self._runtime.now())
        except Refused as refusal:
            answer = SyncAnswer(refusal.error)
        self._runtime.note_deadline(group)
        self._classic.send(token, answer)

    def heartbeat(self, group: ConsumerGroup, request: HeartbeatRequest) -> None:
        """A Heartbeat. Raises Refused with the error to answer."""
        classic_members.heartbeat(group, request, self._runtime.now())

    def leave(
        self, shard: Shard, group: ConsumerGroup, token: Token, leavers: Sequence[Leaver]
    ) -> None:
        """Answer a LeaveGroup."""
        going, answers = named_by_leave_group(group, leavers)
        try:
            asked_by = {each.asked_by for each in leavers} - {None}
            is_own = asked_by <= {each.client_id for each in going}
            self._writer.remove(shard, group, going, LEFT if is_own else KICKED)
        except Refused as refusal:
            self._classic.send(token, LeaveAnswer(refusal.error))
            return
        self._classic.send(token, LeaveAnswer(Error.NONE, answers))
