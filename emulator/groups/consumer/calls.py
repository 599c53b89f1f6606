"""The coordinator's calls about consumer groups (KIP-848), and the consumer groups themselves.

Rules (semantics G15, G20, G26):
- A heartbeat with epoch 0 creates the group if there is none, converts an Empty or a live classic
  one, and refuses another (69). Any other epoch needs a consumer group (69).
- What members of the classic protocol ask of a consumer group is answered by classic_calls.py.
"""

from __future__ import annotations

from dataclasses import replace

from ....wire import random_id
from ....wire.errors import Error, Refused
from ....wire.primitives import id_text
from ....wire.stored.consumer_groups import ConsumerGroupMetadataKey
from ..classic.calls import ClassicCalls
from ..classic.group import ClassicGroup
from ..group import Group, existing
from ..records import MessageRecord, Record
from ..runtime import Runtime
from ..settings import ConfigsOf
from ..shard import Shard
from .classic_calls import ClassicMembers
from .conversion import check_upgrade, is_empty_classic, records_of, upgraded
from .group import ConsumerGroup, Due
from .heartbeat import heartbeat, time_revocation
from .leaving import leave_for_a_while, leaver, overdue
from .members import JOINING_EPOCH, LEAVE_EPOCH, STATIC_LEAVE_EPOCH
from .messages import Beat, BeatAnswer
from .records import DECODERS, group_record
from .regex import resolved
from .states import MemberState
from .telling import OVERDUE
from .times import times_of
from .writing import GroupWriter

_TRY_AGAIN_MS = 500


class ConsumerCalls:
    """The calls of KIP-848. `configs_of` gives the configs of a group (default: the broker's)."""

    def __init__(
        self, runtime: Runtime, classic: ClassicCalls, configs_of: ConfigsOf | None = None
    ) -> None:
        self.group_class = ConsumerGroup
        self.decoders = DECODERS
        self._runtime = runtime
        self._classic = classic
        self._times_of = times_of(runtime.settings, configs_of)
        self._writer = GroupWriter(runtime, classic)
        runtime.register_type(self)
        members = ClassicMembers(runtime, classic, self._writer, self._times_of)
        classic.register(ConsumerGroup, members)

    # What members ask

    def heartbeat(self, beat: Beat) -> BeatAnswer:
        """ConsumerGroupHeartbeat of a valid request. Raises Refused, with a message for the
        client."""
        shard = self._runtime.shard_for(beat.group_id)
        if beat.epoch in (LEAVE_EPOCH, STATIC_LEAVE_EPOCH):
            return self._leave(shard, beat)
        if not beat.member_id:  # in v0 the broker chooses the id
            beat = replace(beat, member_id=id_text(random_id()))
        group, first = self._group_for(shard, beat)
        now = self._runtime.now()
        outcome = heartbeat(group, beat, self._times_of(beat.group_id), now)
        before = shard.groups.get(beat.group_id)
        self._writer.write(shard, group, outcome.records, first=first)
        if isinstance(before, ClassicGroup):  # it was converted: its members join again
            self._classic.close(before, Error.REBALANCE_IN_PROGRESS, now)
        self._runtime.note_deadline(group)
        return outcome.answer

    def _group_for(self, shard: Shard, beat: Beat) -> tuple[ConsumerGroup, list[Record]]:
        """The group of a heartbeat, perhaps a new one, and the records that create it."""
        group_id = beat.group_id
        group = shard.groups.get(group_id)
        if isinstance(group, ConsumerGroup):
            return group, []
        if beat.epoch != JOINING_EPOCH:
            if group is None:
                raise Refused(Error.GROUP_ID_NOT_FOUND, f"Consumer group {group_id} not found.")
            raise _not_a_consumer_group(group_id)
        settings, topics = self._runtime.settings, self._runtime.topics
        if group is None or is_empty_classic(group):
            gone: list[Record] = [] if group is None else [*group.tombstones()]
            return ConsumerGroup(group_id, settings, topics), gone
        if not isinstance(group, ClassicGroup):
            raise _not_a_consumer_group(group_id)
        check_upgrade(group, settings)
        try:
            made = upgraded(group, settings, topics, self._runtime.now())
        except Refused:
            self._classic.interrupt(group, Error.REBALANCE_IN_PROGRESS)
            raise
        return made, [*group.tombstones(), *records_of(made)]

    def _leave(self, shard: Shard, beat: Beat) -> BeatAnswer:
        group = _as_consumer_group(beat.group_id, shard.groups.get(beat.group_id))
        member = leaver(group, beat)
        if beat.epoch == STATIC_LEAVE_EPOCH:
            outcome = leave_for_a_while(group, member)
            self._writer.write(shard, group, outcome.records)
            return outcome.answer
        self._writer.remove(shard, group, [member])
        return BeatAnswer(beat.member_id, beat.epoch)

    def rebalance(self, group: ConsumerGroup) -> None:
        """Raise the group's epoch: with the next heartbeat a new target is computed, and each
        member reaches it with its own. Those of the classic protocol join again."""
        shard = self._runtime.shard_for(group.group_id)
        record = group_record(group.group_id, group.epoch + 1, group.metadata_hash)
        self._writer.write(shard, group, [record], why="forced by the test")
        self._runtime.note_deadline(group)

    def end_session(self, group: ConsumerGroup, member_id: str) -> None:
        """A member's session is over now. Raises Refused(UNKNOWN_MEMBER_ID)."""
        member = group.members.get(member_id)
        if member is None:
            raise Refused(Error.UNKNOWN_MEMBER_ID, f"group {group.group_id!r} has no {member_id}")
        shard = self._runtime.shard_for(group.group_id)
        self._writer.remove(shard, group, [member], OVERDUE[Due.SESSION])
        self._runtime.note_deadline(shard.groups.get(group.group_id, group))

    def group(self, group_id: str) -> ConsumerGroup:
        """A consumer group, for reading. Raises Refused: INVALID_GROUP_ID, GROUP_ID_NOT_FOUND,
        NOT_COORDINATOR, COORDINATOR_LOAD_IN_PROGRESS."""
        if not group_id:
            raise Refused(Error.INVALID_GROUP_ID)
        return _as_consumer_group(group_id, self._runtime.shard_for(group_id).visible(group_id))

    # What becomes of groups

    def replay(
        self, shard: Shard, record: MessageRecord, now: int, producer_id: int | None
    ) -> None:
        """Apply a record of a group, creating the group if need be."""
        group_id = record.group_id
        group = shard.groups.get(group_id)
        if not isinstance(group, ConsumerGroup):
            # There may be a classic group, if offsets came first.
            if record.value is None:
                return
            group = ConsumerGroup(group_id, self._runtime.settings, self._runtime.topics)
            shard.groups[group_id] = group
        group.apply(record)
        if record.value is None and isinstance(record.key, ConsumerGroupMetadataKey):
            del shard.groups[group_id]

    def loaded(self, group: ConsumerGroup, now: int) -> None:
        """Every member has a whole session before it."""
        session_ms = self._times_of(group.group_id).session_timeout_ms
        for member in group:
            classic = member.classic
            timeout_ms = session_ms if classic is None else classic.session_timeout_ms
            group.deadlines.set((Due.SESSION, member.member_id), now + timeout_ms)
            if member.state is MemberState.UNREVOKED and classic is None:
                time_revocation(group, member, now)
        self._runtime.note_deadline(group)

    def due(self, shard: Shard, group: ConsumerGroup, now: int) -> None:
        """Act on the deadline that passed first. A refused write is tried again after a while."""
        key = group.deadlines.pop(now)
        if key is not None:
            due, member_id = key
            try:
                if due is Due.REGEX:
                    self._writer.write(shard, group, resolved(group, now))
                else:
                    member = overdue(group, due, member_id)
                    gone = [] if member is None else [member]
                    self._writer.remove(shard, group, gone, OVERDUE[due])
            except Refused:
                group.deadlines.set(key, now + _TRY_AGAIN_MS)
        self._runtime.note_deadline(shard.groups.get(group.group_id, group))

    def resigned(self, group: ConsumerGroup, now: int) -> None:
        """Nothing is ever parked in a consumer group, so nobody is to be answered."""


def _as_consumer_group(group_id: str, group: Group | None) -> ConsumerGroup:
    found = existing(group_id, group)
    if not isinstance(found, ConsumerGroup):
        raise _not_a_consumer_group(group_id)
    return found


def _not_a_consumer_group(group_id: str) -> Refused:
    return Refused(Error.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group.")
