"""The coordinator's calls about consumer groups (KIP-848), and the consumer groups themselves.

Rules (semantics G15, G20, G21, G26), besides those of every type (modern/calls.py):
- A heartbeat with epoch 0 converts an Empty or a live classic group, and refuses another (69).
- If only members of the classic protocol are left, the group becomes a classic one (conversion.py),
  unless `group.consumer.migration.policy` forbids it.
- What members of the classic protocol ask of a consumer group is answered by classic_protocol.py.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from copy import copy

from ....wire import random_id
from ....wire.errors import Error, Refused
from ....wire.primitives import id_text
from ...base.call import Call
from ..classic.calls import ClassicCalls
from ..classic.group import EMPTY, ClassicGroup, Effects
from ..classic.rebalance import begin
from ..group import Group
from ..modern.calls import LEFT, Departure, ModernCalls
from ..modern.group import Due
from ..modern.member import JOINING_EPOCH, LEAVE_EPOCH, STATIC_LEAVE_EPOCH
from ..records import Record
from ..runtime import Runtime, Shard
from ..settings import ConfigsOf
from .classic_protocol import ClassicMembers
from .conversion import check_upgrade, downgraded, may_downgrade, records_of, upgraded
from .group import ConsumerGroup
from .heartbeat import Request, Response, heartbeat, leave_for_a_while, leaver
from .members import ConsumerMember
from .regex import resolved


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
