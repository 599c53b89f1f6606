"""The coordinator's calls about consumer groups (KIP-848), and the way into them from the classic
protocol.

Rules (semantics G15, G20, G26):
- A heartbeat with epoch 0 makes the group if there is none, converts an Empty or a live classic
  one, and refuses another (69). Any other epoch needs a consumer group (69).
- JoinGroup to a consumer group with members makes a mixed group; an Empty one makes way for a
  classic group. SyncGroup, Heartbeat and LeaveGroup are served where the member is.
- Records are written in one batch, then applied, then answered. What is refused changes nothing,
  but a deadline that was set stays: it finds nothing to do.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from ....wire import random_id
from ....wire.errors import Error, Refused
from ....wire.primitives import id_text
from ..classic.effects import Effects, Token
from ..classic.group import ClassicGroup
from ..classic.rebalance import begin
from ..messages import JoinAnswer, JoinRequest, LeaveAnswer, Leaver, SyncAnswer, SyncRequest
from ..offsets.calls import OffsetCalls
from ..records import Record, Tombstone
from ..shard import AnyGroup, Shard
from . import classic_members as consumer_classic
from . import leaving as consumer_leaving
from .conversion import (
    downgraded,
    is_empty_classic,
    may_downgrade,
    records_of,
    upgraded,
)
from .group import ConsumerGroup, Due
from .heartbeat import forget_timers, heartbeat, time_revocation
from .members import LEAVE_EPOCH, STATIC_LEAVE_EPOCH, ConsumerMember
from .messages import Beat, BeatAnswer
from .records import Stored
from .regex import resolved
from .states import MemberState


class ConsumerCalls(OffsetCalls):
    """What members of consumer groups ask, whichever protocol they speak."""

    # ---------------------------------------------------------------- heartbeat

    def consumer_heartbeat(self, beat: Beat) -> BeatAnswer:
        """ConsumerGroupHeartbeat of a request that was found in order. Raises Refused, with a
        sentence for the client."""
        shard = self.shard_for(beat.group_id)
        if beat.epoch in (LEAVE_EPOCH, STATIC_LEAVE_EPOCH):
            return self._consumer_leave(shard, beat)
        if not beat.member_id:  # v0 lets the broker choose
            beat = replace(beat, member_id=id_text(random_id()))
        group, first = self._group_for(shard, beat)
        now = self._now()
        outcome = heartbeat(group, beat, self._times_of(beat.group_id), now)
        classic = shard.groups.get(beat.group_id)
        self._write_consumer(shard, group, first, outcome.records)
        if isinstance(classic, ClassicGroup):
            self._let_go(classic)
        self._note_deadline(group)
        return outcome.answer

    def _group_for(self, shard: Shard, beat: Beat) -> tuple[ConsumerGroup, list[Record]]:
        """The group of a heartbeat, perhaps a new one, and what is written to make it."""
        group = shard.groups.get(beat.group_id)
        if isinstance(group, ConsumerGroup):
            return group, []
        group_id = beat.group_id
        if beat.epoch != 0:
            found = "not found" if group is None else "is not a consumer group"
            text = f"Consumer group {group_id}" if group is None else f"Group {group_id}"
            raise Refused(Error.GROUP_ID_NOT_FOUND, f"{text} {found}.")
        if group is None or is_empty_classic(group):
            gone: list[Record] = [] if group is None else [Tombstone(group_id)]
            return ConsumerGroup(group_id, self.settings, self.topics), gone
        made = upgraded(group, self.settings, self.topics, self._now())
        return made, [Tombstone(group_id), *records_of(made)]

    def _let_go(self, classic: ClassicGroup) -> None:
        """A classic group that is none any more: whoever waits shall join again."""
        for token, answer in classic.close(Error.REBALANCE_IN_PROGRESS, self._now()).answers:
            self._send(token, answer)

    def _write_consumer(
        self, shard: Shard, group: ConsumerGroup, first: Sequence[Record], records: list[Stored]
    ) -> None:
        """Write, and then let the group be what was written."""
        if first or records:
            self._write(group.group_id, [*first, *records])
        shard.groups[group.group_id] = group
        for record in records:
            group.apply(record)

    def consumer_group(self, group_id: str) -> ConsumerGroup:
        """A consumer group, to be looked at. Raises Refused: INVALID_GROUP_ID, GROUP_ID_NOT_FOUND,
        NOT_COORDINATOR, COORDINATOR_LOAD_IN_PROGRESS."""
        if not group_id:
            raise Refused(Error.INVALID_GROUP_ID)
        return _as_consumer_group(group_id, self.shard_for(group_id).seen(group_id))

    def _consumer_leave(self, shard: Shard, beat: Beat) -> BeatAnswer:
        group = self._consumer_group(shard, beat.group_id)
        member = consumer_leaving.leaver(group, beat)
        if beat.epoch == STATIC_LEAVE_EPOCH:
            outcome = consumer_leaving.leave_for_a_while(group, member)
            self._write_consumer(shard, group, (), outcome.records)
            return outcome.answer
        self._remove(shard, group, [member])
        return BeatAnswer(beat.member_id, beat.epoch)

    def _consumer_group(self, shard: Shard, group_id: str) -> ConsumerGroup:
        return _as_consumer_group(group_id, shard.groups.get(group_id))

    def _remove(
        self, shard: Shard, group: ConsumerGroup, members: Collection[ConsumerMember]
    ) -> None:
        """Take members out; what is left may be a classic group."""
        if not members:
            return
        if may_downgrade(group, members):
            gone = {member.member_id for member in members}
            staying = [member for member in group if member.member_id not in gone]
            self._downgrade(shard, group, staying, rebalances=True)
            return
        records = consumer_leaving.removal(group, members)
        self._write_consumer(shard, group, (), records)
        forget_timers(group, [member.member_id for member in members])
        self._note_deadline(group)

    def _downgrade(
        self,
        shard: Shard,
        group: ConsumerGroup,
        staying: Collection[ConsumerMember],
        *,
        rebalances: bool,
        first: Sequence[Record] = (),
        gone: Sequence[Record] | None = None,
    ) -> None:
        now = self._now()
        classic = downgraded(group, staying, now, self._new_uuid)
        gone = group.tombstones() if gone is None else gone
        assignments = {member.member_id: member.assignment for member in classic.roster}
        self._write(group.group_id, [*first, *gone, classic.record(assignments)])
        shard.groups[group.group_id] = classic
        effects = Effects()
        if rebalances:
            begin(classic, effects, now)
        self._carry_out(classic, effects)

    def _consumer_due(self, shard: Shard, group: ConsumerGroup, now: int) -> None:
        """Act on the one deadline of a consumer group that passed first. A write that is refused
        leaves everything as it was; the next heartbeat finds it so."""
        key = group.deadlines.pop(now)
        if key is not None:
            due, member_id = key
            try:
                if due is Due.REGEX:
                    self._write_consumer(shard, group, (), resolved(group, now))
                else:
                    member = consumer_leaving.overdue(group, due, member_id)
                    self._remove(shard, group, [] if member is None else [member])
            except Refused:
                group.deadlines.set(key, now + _TRY_AGAIN_MS)
        self._note_deadline(shard.groups.get(group.group_id, group))

    # -------------------------------------------------------- the classic protocol

    def _join_consumer(
        self, shard: Shard, group: ConsumerGroup, token: Token, request: JoinRequest
    ) -> None:
        joining = consumer_classic.Joining(group, request, self._new_uuid())
        try:
            if joining.needs_id():
                self._send(token, JoinAnswer(Error.MEMBER_ID_REQUIRED, joining.member_id))
                return
            answer = self._joined(shard, group, joining)
        except Refused as refusal:
            answer = JoinAnswer(refusal.error)
        self._note_deadline(shard.groups[group.group_id])
        self._send(token, answer)

    def _joined(
        self, shard: Shard, group: ConsumerGroup, joining: consumer_classic.Joining
    ) -> JoinAnswer:
        now, records = self._now(), joining.records
        step = joining.step(self._times_of(group.group_id), now)
        replaced = joining.replaced
        epoch = step.note(records, needs_resolved=False)
        if replaced is not None and may_downgrade(group, [replaced], [step.told]):
            member = step.told
            if not step.has_changed_topics:
                target = group.target_of(member)
                member = step.reconciled(group.target_epoch, target, records)
            self._downgrade_by(shard, group, replaced, member, records, step.has_changed_topics)
            return joining.answer(member)
        target_epoch, target = step.target(epoch, records)
        member = step.reconciled(target_epoch, target, records)
        self._write_consumer(shard, group, (), records)
        joining.start_timers(group, now)
        return joining.answer(member)

    def _downgrade_by(
        self,
        shard: Shard,
        group: ConsumerGroup,
        replaced: ConsumerMember,
        member: ConsumerMember,
        records: list[Stored],
        rebalances: bool,
    ) -> None:
        """The last member of the new protocol was replaced by one of the classic protocol."""
        staying = [one for one in group if one.member_id != replaced.member_id]
        gone = group.tombstones(instead={replaced.member_id: member.member_id})
        self._downgrade(
            shard, group, [*staying, member], rebalances=rebalances, first=records, gone=gone
        )

    def _sync_consumer(self, group: ConsumerGroup, token: Token, request: SyncRequest) -> None:
        try:
            answer = consumer_classic.sync(group, request, self._now())
        except Refused as refusal:
            answer = SyncAnswer(refusal.error)
        self._note_deadline(group)
        self._send(token, answer)

    def _leave_consumer(
        self, shard: Shard, group: ConsumerGroup, token: Token, leavers: Sequence[Leaver]
    ) -> None:
        going, answers = consumer_leaving.named_by_leave_group(group, leavers)
        try:
            self._remove(shard, group, going)
        except Refused as refusal:
            self._send(token, LeaveAnswer(refusal.error))
            return
        self._send(token, LeaveAnswer(Error.NONE, answers))

    def loaded_consumer(self, group: ConsumerGroup, now: int) -> None:
        """The log has been read to its end: every member has a whole session before it."""
        session_ms = self._times_of(group.group_id).session_timeout_ms
        for member in group:
            classic = member.classic
            timeout_ms = session_ms if classic is None else classic.session_timeout_ms
            group.deadlines.set((Due.SESSION, member.member_id), now + timeout_ms)
            if member.state is MemberState.UNREVOKED and classic is None:
                time_revocation(group, member, now)
        self._note_deadline(group)


_TRY_AGAIN_MS = 500


def _as_consumer_group(group_id: str, group: AnyGroup | None) -> ConsumerGroup:
    if group is None:
        raise Refused(Error.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
    if not isinstance(group, ConsumerGroup):
        raise Refused(Error.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group.")
    return group
