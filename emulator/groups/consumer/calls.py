"""The coordinator's calls about consumer groups (KIP-848), and the consumer groups themselves.

Rules (semantics G15, G20, G21, G26), besides those of every type (modern/calls.py):
- A heartbeat with epoch 0 converts an Empty or a live classic group, and refuses another (69).
- If only members of the classic protocol are left, the group becomes a classic one (conversion.py),
  unless `group.consumer.migration.policy` forbids it.

Members that speak the classic protocol: JoinGroup, SyncGroup, Heartbeat, LeaveGroup. Rules
(semantics G26), in the order in which they are checked:
- Join: a full group 81; another type than "consumer", or no protocol common to all such members
  23; from v4 on a dynamic member without an id is given one first (79); metadata that is no
  subscription -1. It is answered at once, whatever others do: its generation is its epoch, it never
  leads, and its protocol is the first in its list. An Empty group makes way for a classic one.
- Sync: a member of the new protocol 25, another generation 22, another type or name than in its
  Join's answer 23, 27 if there is a newer target assignment; else what the broker assigns, in the
  member's own encoding.
- Heartbeat: 27 when it has to join again: for a newer epoch, to give up partitions, or to get those
  that have become free. Then it has its rebalance timeout to do so.
- Leave also removes members of the new protocol.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

from ....wire import random_id
from ....wire.api.heartbeat import HeartbeatRequest
from ....wire.api.join_group import JoinGroupRequest, JoinGroupResponse
from ....wire.api.leave_group import LeaveGroupRequest, LeaveGroupResponse
from ....wire.api.sync_group import SyncGroupRequest, SyncGroupResponse
from ....wire.errors import Error, Refused
from ....wire.primitives import id_text
from ...base.call import Call
from ..classic.calls import ClassicCalls, OtherGroups
from ..classic.consumer_protocol import (
    Malformed,
    Subscription,
    read_subscription,
    write_assignment,
)
from ..classic.group import CONSUMER, EMPTY, ClassicGroup, Effects, refused_join, refused_sync
from ..classic.joining import MEMBER_ID_REQUIRED_SINCE
from ..classic.members import NO_MEMBER, host_of, protocols_of, rebalance_timeout_of
from ..classic.rebalance import begin, left_member
from ..group import Group
from ..modern.calls import KICKED, LEFT, Departure, ModernCalls
from ..modern.group import Due
from ..modern.heartbeat import GroupTimes
from ..modern.member import JOINING_EPOCH, LEAVE_EPOCH, STATIC_LEAVE_EPOCH, MemberState
from ..records import MessageRecord, Record
from ..runtime import Runtime, Shard
from ..settings import ConfigsOf
from .conversion import (
    check_upgrade,
    downgraded,
    may_downgrade,
    may_join_classic,
    records_of,
    upgraded,
)
from .group import ConsumerGroup
from .heartbeat import (
    Request,
    Response,
    Step,
    check_instance,
    check_room,
    heartbeat,
    leave_for_a_while,
    leaver,
    take_over,
)
from .members import ClassicSide, ConsumerMember
from .regex import resolved

if TYPE_CHECKING:
    from ..classic.calls import ClassicCalls


class ClassicMembers(OtherGroups):
    def __init__(self, runtime: Runtime, classic: ClassicCalls, calls: ConsumerCalls) -> None:
        super().__init__(classic, makes_way=True)
        self._runtime = runtime
        self._calls = calls

    def join(
        self, shard: Shard, group: ConsumerGroup, call: Call, request: JoinGroupRequest
    ) -> None:
        joining = _Joining(group, call, request, self._runtime.new_uuid())
        try:
            if joining.needs_id():
                answer = refused_join(Error.MEMBER_ID_REQUIRED, joining.member_id)
                self.classic.send(call, answer)
                return
            answer = self._joined(shard, group, joining)
        except Refused as refusal:
            answer = refused_join(refusal.error)
        self._runtime.note_deadline(shard.groups[group.group_id])
        self.classic.send(call, answer)

    def _joined(self, shard: Shard, group: ConsumerGroup, joining: _Joining) -> JoinGroupResponse:
        now, records = self._runtime.now(), joining.records
        step = joining.step(self._calls.times_of(group.group_id), now)
        replaced = joining.replaced
        epoch = step.group_epoch(records, needs_resolved=False)
        if replaced is not None and may_downgrade(group, [replaced], [step.updated]):
            member = step.updated
            if not step.has_changed_topics:
                target = group.target_of(member)
                member = step.reconciled(group.target_epoch, target, records)
            self._downgrade_by(shard, group, replaced, member, records, step.has_changed_topics)
            return joining.answer(member)
        target_epoch, target = step.target(epoch, records)
        member = step.reconciled(target_epoch, target, records)
        self._calls.write(shard, group, records)
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
        self._calls.downgrade(
            shard, group, [*staying, member], rebalances=rebalances, first=records, gone=gone
        )

    def sync(self, group: ConsumerGroup, call: Call, request: SyncGroupRequest) -> None:
        try:
            answer = _sync(group, request, self._runtime.now())
        except Refused as refusal:
            answer = refused_sync(refusal.error)
        self._runtime.note_deadline(group)
        self.classic.send(call, answer)

    def heartbeat(self, group: ConsumerGroup, request: HeartbeatRequest) -> None:
        """A Heartbeat. Raises Refused with the error to answer."""
        _heartbeat(group, request, self._runtime.now())

    def leave(
        self,
        shard: Shard,
        group: ConsumerGroup,
        call: Call,
        leavers: Sequence[LeaveGroupRequest.Member],
    ) -> None:
        going, answers = _leaving(group, leavers)
        is_own = not leavers or call.client_id in {each.client_id for each in going}
        try:
            self._calls.remove(shard, group, going, LEFT if is_own else KICKED)
        except Refused as refusal:
            self.classic.send(call, LeaveGroupResponse(error_code=refusal.error))
            return
        self.classic.send(call, LeaveGroupResponse(members=answers))


class _Joining:
    """A JoinGroup being answered; `member_id` is the request's, or a new one."""

    def __init__(
        self, group: ConsumerGroup, call: Call, request: JoinGroupRequest, new_id: str
    ) -> None:
        self.group = group
        self.call = call
        self.request = request
        self.protocols = protocols_of(request)
        self.rebalance_timeout_ms = rebalance_timeout_of(call, request)
        self.is_unknown = request.member_id == NO_MEMBER
        self.member_id = new_id if self.is_unknown else request.member_id
        self.records: list[MessageRecord] = []
        # The member from which it takes over the instance, if that is another.
        self.replaced: ConsumerMember | None = None
        self.has_changed_topics = False

    def needs_id(self) -> bool:
        """Check whether it may join; True if it has to join again with its id. Raises Refused:
        GROUP_MAX_SIZE_REACHED, INCONSISTENT_GROUP_PROTOCOL."""
        may_join_classic(self.group)
        check_room(self.group, self.member_id)
        names = [name for name, _ in self.protocols]
        if self.request.protocol_type != CONSUMER or not _is_common(self.group, names):
            raise Refused(Error.INCONSISTENT_GROUP_PROTOCOL)
        is_dynamic = self.request.group_instance_id is None
        return self.is_unknown and is_dynamic and self.call.version >= MEMBER_ID_REQUIRED_SINCE

    def before(self) -> ConsumerMember:
        """The member until now. Raises Refused: UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID."""
        group, instance_id = self.group, self.request.group_instance_id
        if instance_id is None:
            return group.members.get(self.member_id) or ConsumerMember(self.member_id)
        holder = group.instance(instance_id)
        if not self.is_unknown:
            return check_instance(holder, instance_id, self.member_id)
        if holder is None:
            return ConsumerMember(self.member_id)
        self.replaced = holder
        return take_over(group, holder, self.member_id, self.records)

    def step(self, times: GroupTimes, now: int) -> Step:
        """The changes that the join means for the group, not made yet. Raises Refused."""
        before = self.before()
        subscription = self.subscription()
        request = self.request
        timeout = self.rebalance_timeout_ms
        after = replace(
            before,
            instance_id=before.instance_id or request.group_instance_id,
            rack_id=before.rack_id if subscription.rack_id is None else subscription.rack_id,
            rebalance_timeout_ms=before.rebalance_timeout_ms if timeout == -1 else timeout,
            names=subscription.names,
            regex="",
            client_id=self.call.client_id,
            client_host=host_of(self.call),
            classic=ClassicSide(request.session_timeout_ms, self.protocols),
        )
        return Step(self.group, before, after, subscription.owned, times, now)

    def subscription(self) -> Subscription:
        """The subscription in its metadata. Raises Refused(UNKNOWN_SERVER_ERROR) if there is none,
        as a real broker does."""
        try:
            return read_subscription(self.protocols[0][1], self.group.view)
        except Malformed as error:
            raise Refused(Error.UNKNOWN_SERVER_ERROR, str(error)) from None

    def answer(self, member: ConsumerMember) -> JoinGroupResponse:
        return JoinGroupResponse(
            generation_id=member.epoch,
            protocol_type=CONSUMER,
            protocol_name=self.protocols[0][0],
            member_id=member.member_id,
        )

    def start_timers(self, group: ConsumerGroup, now: int) -> None:
        """From now on it has to sync, and to send heartbeats."""
        member_id = self.member_id
        group.deadlines.clear((Due.JOIN, member_id))
        group.deadlines.set((Due.SESSION, member_id), now + self.request.session_timeout_ms)
        group.deadlines.set((Due.SYNC, member_id), now + self.rebalance_timeout_ms)


def _is_common(group: ConsumerGroup, names: list[str]) -> bool:
    """Whether all classic members support one of these. As in Kafka, a protocol that a member names
    twice counts twice, and then is no longer what all have in common."""
    sides = [member.classic for member in group if member.classic is not None]
    named = Counter(name for side in sides for name, _ in side.protocols)
    return any(named[name] == len(sides) for name in names)


def _sync(group: ConsumerGroup, request: SyncGroupRequest, now: int) -> SyncGroupResponse:
    """SyncGroup. Raises Refused with the code to answer."""
    member, side = _classic_member(group, request.member_id, request.group_instance_id)
    if request.generation_id != member.epoch:
        raise Refused(Error.ILLEGAL_GENERATION)
    if request.protocol_type not in (None, CONSUMER):
        raise Refused(Error.INCONSISTENT_GROUP_PROTOCOL)
    if request.protocol_name not in (None, side.protocol_name):
        raise Refused(Error.INCONSISTENT_GROUP_PROTOCOL)
    if group.target_epoch > member.epoch and member.state is not MemberState.UNREVOKED:
        _await_join(group, member, now)
        raise Refused(Error.REBALANCE_IN_PROGRESS)
    group.deadlines.clear((Due.SYNC, member.member_id))
    group.deadlines.set((Due.SESSION, member.member_id), now + side.session_timeout_ms)
    metadata = side.protocols[0][1]
    assignment = write_assignment(member.assigned, metadata, group.view)
    return SyncGroupResponse(
        protocol_type=request.protocol_type,
        protocol_name=request.protocol_name,
        assignment=assignment,
    )


def _heartbeat(group: ConsumerGroup, request: HeartbeatRequest, now: int) -> None:
    """Heartbeat. Raises Refused with the code to answer."""
    member, side = _classic_member(group, request.member_id, request.group_instance_id)
    if request.generation_id != member.epoch:
        raise Refused(Error.ILLEGAL_GENERATION)
    group.deadlines.set((Due.SESSION, member.member_id), now + side.session_timeout_ms)
    has_to_join = (
        member.epoch < group.target_epoch
        or member.state is MemberState.UNREVOKED
        or (member.state is MemberState.UNRELEASED and not _is_waiting(group, member))
    )
    if has_to_join:
        _await_join(group, member, now)
        raise Refused(Error.REBALANCE_IN_PROGRESS)


def _is_waiting(group: ConsumerGroup, member: ConsumerMember) -> bool:
    """Whether others still have partitions of the member's target."""
    target = group.targets.get(member.member_id, {})
    return any(
        partition not in member.assigned.get(topic, ()) and group.is_held(topic, partition)
        for topic, partitions in target.items()
        for partition in partitions
    )


def _await_join(group: ConsumerGroup, member: ConsumerMember, now: int) -> None:
    key = (Due.JOIN, member.member_id)
    if group.deadlines.get(key) is None:
        group.deadlines.set(key, now + member.rebalance_timeout_ms)


def _classic_member(
    group: ConsumerGroup, member_id: str, instance_id: str | None
) -> tuple[ConsumerMember, ClassicSide]:
    if instance_id is None:
        member = group.member(member_id)
    else:
        member = check_instance(group.instance(instance_id), instance_id, member_id)
    if member.classic is None:
        raise Refused(Error.UNKNOWN_MEMBER_ID)
    return member, member.classic


def _leaving(
    group: ConsumerGroup, leavers: Sequence[LeaveGroupRequest.Member]
) -> tuple[list[ConsumerMember], list[LeaveGroupResponse.Member]]:
    """LeaveGroup: the members to remove, and the answer for each that was named."""
    going: dict[str, ConsumerMember] = {}
    answers = []
    for each in leavers:
        member_id, instance_id = each.member_id, each.group_instance_id
        error = Error.NONE
        try:
            if instance_id is None:
                member = group.member(member_id)
            else:
                member = _instance(group, member_id, instance_id)
            going[member.member_id] = member
        except Refused as refusal:
            error = refusal.error
        answers.append(left_member(each, error))
    return list(going.values()), answers


def _instance(group: ConsumerGroup, member_id: str, instance_id: str) -> ConsumerMember:
    """The member by its instance; an administrator gives no member id."""
    holder = group.instance(instance_id)
    if holder is not None and member_id == NO_MEMBER:
        return holder
    return check_instance(holder, instance_id, member_id)


class ConsumerCalls(ModernCalls[ConsumerGroup]):
    """The calls of KIP-848."""

    group_class = ConsumerGroup
    departures = {
        **ModernCalls.departures,
        Due.REBALANCE: Departure("kicked", "it did not give up its partitions in time"),
        Due.JOIN: Departure("kicked", "it did not join again in time"),
        Due.SYNC: Departure("kicked", "it did not ask for its assignment in time"),
    }

    def __init__(self, runtime: Runtime, classic: ClassicCalls, configs_of: ConfigsOf) -> None:
        super().__init__(runtime, classic, configs_of)
        classic.register(ConsumerGroup, ClassicMembers(runtime, classic, self))

    def heartbeat(
        self, call: Call, request: Request, sees: Callable[[str], bool] | None = None
    ) -> Response:
        """ConsumerGroupHeartbeat of a valid request; `sees`: whether the client may describe a
        topic, None if nobody asks. Raises Refused, with a message for the client."""
        shard = self._runtime.shard_for(request.group_id)
        if request.member_epoch in (LEAVE_EPOCH, STATIC_LEAVE_EPOCH):
            return self._leave(shard, request)
        if not request.member_id:  # in v0 the broker chooses the id
            request = copy(request)
            request.member_id = id_text(random_id())
        group, first = self.group_for(
            shard, request.group_id, joins=request.member_epoch == JOINING_EPOCH
        )
        now = self._runtime.now()
        outcome = heartbeat(group, call, request, self.times_of(request.group_id), now, sees)
        before = shard.groups.get(request.group_id)
        self.write(shard, group, outcome.records, first=first)
        if isinstance(before, ClassicGroup):  # it was converted: its members join again
            self._classic.close(before, Error.REBALANCE_IN_PROGRESS, now)
        self._runtime.note_deadline(group)
        return outcome.answer

    def created(self, group_id: str, before: Group | None) -> tuple[ConsumerGroup, list[Record]]:
        """A new group, perhaps made of a classic one, and the records that come before its own.
        Raises Refused(GROUP_ID_NOT_FOUND), and UNKNOWN_SERVER_ERROR, as conversion.py says."""
        if not isinstance(before, ClassicGroup) or before.state is EMPTY:
            return super().created(group_id, before)
        settings, topics = self._runtime.settings, self._runtime.topics
        check_upgrade(before, settings)
        try:
            made = upgraded(before, settings, topics, self._runtime.now())
        except Refused:
            self._classic.interrupt(before, Error.REBALANCE_IN_PROGRESS)
            raise
        return made, [*before.tombstones(), *records_of(made)]

    def _leave(self, shard: Shard, request: Request) -> Response:
        group = self.of_type(request.group_id, shard.groups.get(request.group_id))
        member = leaver(group, request)
        if request.member_epoch == STATIC_LEAVE_EPOCH:
            outcome = leave_for_a_while(group, member)
            self.write(shard, group, outcome.records)
            return outcome.answer
        self.remove(shard, group, [member])
        return Response(member_id=request.member_id, member_epoch=request.member_epoch)

    # What becomes of groups

    def remove(
        self,
        shard: Shard,
        group: ConsumerGroup,
        members: Collection[ConsumerMember],
        departure: Departure = LEFT,
    ) -> None:
        """Take members out. If only members of the classic protocol are left, the group may become
        a classic one."""
        if may_downgrade(group, members):
            gone = {member.member_id for member in members}
            staying = [member for member in group if member.member_id not in gone]
            self.downgrade(shard, group, staying, rebalances=True)
            number = {"members": len(staying)}
            for each in members:
                args = departure.kind, each, departure.reason, number
                self._runtime.events.add(group.group_id, *args)
            return
        super().remove(shard, group, members, departure)

    def downgrade(
        self,
        shard: Shard,
        group: ConsumerGroup,
        staying: Collection[ConsumerMember],
        *,
        rebalances: bool,
        first: Sequence[Record] = (),
        gone: Sequence[Record] | None = None,
    ) -> None:
        """Make a classic group of these members. `first` is written before the tombstones of the
        consumer group, which are `gone` if given."""
        now = self._runtime.now()
        classic = downgraded(group, staying, now, self._runtime.new_uuid)
        gone = group.tombstones() if gone is None else gone
        assignments = {member.member_id: member.assignment for member in classic.roster}
        self._runtime.write(group.group_id, [*first, *gone, classic.record(assignments)])
        shard.groups[group.group_id] = classic
        effects = Effects()
        if rebalances:
            begin(classic, effects, now, "its last member of the consumer protocol is gone")
        self._classic.carry_out(classic, effects)

    def act(self, shard: Shard, group: ConsumerGroup, due: Due, member_id: str, now: int) -> None:
        """Resolve the group's expressions, or take out a member that is late. Raises Refused."""
        if due is Due.REGEX:
            self.write(shard, group, resolved(group, now))
        else:
            super().act(shard, group, due, member_id, now)
