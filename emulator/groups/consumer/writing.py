"""Writing changes of a consumer group: its records, removed members, and its conversion.

Records are written in one batch and then applied. A refused write changes nothing, but a deadline
that was set stays: when it passes there is nothing to do.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..classic.calls import ClassicCalls
from ..classic.effects import Effects
from ..classic.rebalance import begin
from ..records import MessageRecord, Record
from ..runtime import Runtime
from ..shard import Shard
from .conversion import downgraded, may_downgrade
from .group import ConsumerGroup
from .heartbeat import forget_timers
from .leaving import removal
from .members import ConsumerMember
from .telling import LEFT, Departure, told


class GroupWriter:
    """Writes and applies. Every method raises Refused if the write is refused."""

    def __init__(self, runtime: Runtime, classic: ClassicCalls) -> None:
        self._runtime = runtime
        self._classic = classic

    def write(
        self,
        shard: Shard,
        group: ConsumerGroup,
        records: Sequence[MessageRecord],
        *,
        first: Sequence[Record] = (),
        departure: Departure = LEFT,
        why: str = "",
    ) -> None:
        """Write `first` and `records`, make this the group of its id, and apply `records` to it.
        `departure` is how members go, and `why` the group rebalances, for events."""
        if first or records:
            self._runtime.write(group.group_id, [*first, *records])
        shard.groups[group.group_id] = group
        if records:
            with told(self._runtime.telling, group, departure, why):
                for record in records:
                    group.apply(record)

    def remove(
        self,
        shard: Shard,
        group: ConsumerGroup,
        members: Collection[ConsumerMember],
        departure: Departure = LEFT,
    ) -> None:
        """Take members out. If only members of the classic protocol are left, the group may become
        a classic one."""
        if not members:
            return
        if may_downgrade(group, members):
            gone = {member.member_id for member in members}
            staying = [member for member in group if member.member_id not in gone]
            self.downgrade(shard, group, staying, rebalances=True)
            number = {"members": len(staying)}
            for each in members:
                args = departure.kind, each, departure.reason, number
                self._runtime.telling.tell(group.group_id, *args)
            return
        self.write(shard, group, removal(group, members), departure=departure)
        forget_timers(group, [member.member_id for member in members])
        self._runtime.note_deadline(group)

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
