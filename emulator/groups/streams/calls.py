"""The coordinator's calls about streams groups (KIP-1071), and the streams groups themselves.

Rules (semantics N36, N37):
- A heartbeat with epoch 0 creates the group if there is none, in the place of an Empty classic one
  too, and refuses another (69). Any other epoch needs a streams group (69).
- An Empty streams group makes way for a classic one, not for a consumer or a share group.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....wire.errors import Error, Refused
from ....wire.stored.streams_groups import StreamsGroupMetadataKey, StreamsGroupTopologyValue
from ..classic.calls import ClassicCalls
from ..classic.not_classic import NotClassic
from ..consumer.conversion import is_empty_classic
from ..consumer.telling import LEFT, Departure, told
from ..group import Group, existing
from ..records import MessageRecord, Record
from ..runtime import Runtime
from ..settings import ConfigsOf, GroupSettings
from ..shard import Shard
from .assigning import new_targets
from .configured import Configured
from .creation_errors import CreationErrors
from .group import FIRST_ASSIGNMENT, Due, StreamsGroup, Unwritten
from .heartbeat import (
    STANDBYS,
    StreamsTimes,
    heartbeat,
    is_time,
    raised_record,
    removal,
    time_revocation,
)
from .members import JOINING_EPOCH, LEAVE_EPOCH, StreamsMember
from .messages import StreamsAnswer, StreamsBeat
from .records import DECODERS, target_epoch_record, target_record, topology_record
from .states import MemberState, Status
from .tasks import TaskId, moved
from .telling import CHANGE, OVERDUE

_TRY_AGAIN_MS = 500
_CONFIGS = (
    "streams.session.timeout.ms",
    "streams.heartbeat.interval.ms",
    "streams.assignment.interval.ms",
    "streams.initial.rebalance.delay.ms",
    "streams.num.standby.replicas",
)
TimesOf = Callable[[str], StreamsTimes]
"""The times of a group, by its id, as they are now."""


def times_of(settings: GroupSettings, configs_of: ConfigsOf | None) -> TimesOf:
    """The times of groups that may have configs of their own, or have none."""
    if configs_of is not None:
        return lambda group_id: StreamsTimes(*map(configs_of(group_id).get, _CONFIGS))
    return lambda group_id: StreamsTimes(
        settings.streams_session_timeout_ms,
        settings.streams_heartbeat_interval_ms,
        settings.streams_assignment_interval_ms,
        settings.streams_initial_rebalance_delay_ms,
        settings.streams_standbys,
    )


class StreamsCalls:
    """The calls about streams groups."""

    def __init__(
        self, runtime: Runtime, classic: ClassicCalls, configs_of: ConfigsOf | None = None
    ) -> None:
        self.group_class = StreamsGroup
        self.decoders = DECODERS
        self.creation_errors = CreationErrors()
        self._runtime = runtime
        self._times_of = times_of(runtime.settings, configs_of)
        runtime.register_type(self)
        classic.register(StreamsGroup, NotClassic(classic, lambda group: not group.members))

    # What members ask

    def heartbeat(self, beat: StreamsBeat) -> StreamsAnswer:
        """StreamsGroupHeartbeat of a valid request. Raises Refused, with a message for the
        client."""
        shard = self._runtime.shard_for(beat.group_id)
        if beat.epoch == LEAVE_EPOCH:
            return self._leave(shard, beat)
        group, first = self._group_for(shard, beat)
        replaced = shard.groups.get(beat.group_id)
        is_new = replaced is not group
        now = self._runtime.now()
        try:
            outcome = heartbeat(group, beat, self._times_of(beat.group_id), now, shard.writes)
        except Refused:
            if not is_new:
                self._runtime.note_deadline(group)  # what it was to wait for goes on
            raise
        if is_new:  # a real broker makes another object of the records
            group.unwritten = Unwritten()
        self._write(shard, group, outcome.records, first=first)
        self._tell_problem(group, outcome.problem)
        self._runtime.note_deadline(group)
        return outcome.answer._replace(endpoint_epoch=0) if replaced is None else outcome.answer

    def _tell_problem(self, group: StreamsGroup, problem: Status | None) -> None:
        """What keeps tasks from being assigned, once."""
        detail = "" if problem is None else problem.detail
        if detail and detail != group.told_problem:
            self._runtime.telling.tell(group.group_id, "not ready", reason=detail)
        group.told_problem = detail

    def _group_for(self, shard: Shard, beat: StreamsBeat) -> tuple[StreamsGroup, list[Record]]:
        """The group of a heartbeat, perhaps a new one, and the records that delete another in its
        place."""
        group_id = beat.group_id
        group = shard.groups.get(group_id)
        if beat.epoch != JOINING_EPOCH:
            if group is None:
                raise Refused(Error.GROUP_ID_NOT_FOUND, f"Streams group {group_id} not found.")
            return self._of(group_id, group), []
        if group is None or is_empty_classic(group):
            gone: list[Record] = [] if group is None else [*group.tombstones()]
            return StreamsGroup(group_id, self._runtime.settings, self._runtime.topics), gone
        return self._of(group_id, group), []

    def _of(self, group_id: str, group: Group | None) -> StreamsGroup:
        found = existing(group_id, group)
        if not isinstance(found, StreamsGroup):
            raise Refused(Error.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a streams group.")
        return found

    def _leave(self, shard: Shard, beat: StreamsBeat) -> StreamsAnswer:
        group = self._of(beat.group_id, shard.groups.get(beat.group_id))
        if beat.shuts_down and group.unwritten.shutdown_by is None:
            group.unwritten.shutdown_by = beat.member_id
        self._remove(shard, group, group.member(beat.member_id), LEFT)
        return StreamsAnswer(beat.member_id, beat.epoch)

    def group(self, group_id: str) -> StreamsGroup:
        """A streams group, for reading. Raises Refused: INVALID_GROUP_ID, GROUP_ID_NOT_FOUND,
        NOT_COORDINATOR, COORDINATOR_LOAD_IN_PROGRESS."""
        if not group_id:
            raise Refused(Error.INVALID_GROUP_ID)
        return self._of(group_id, self._runtime.shard_for(group_id).visible(group_id))

    def configured(self, group: StreamsGroup) -> Configured | None:
        """What the topics make of a group's topology, as calls that only look see it."""
        return group.shown_configured(self._runtime.shard_for(group.group_id).writes)

    def end_session(self, group: StreamsGroup, member_id: str) -> None:
        """A member's session is over now. Raises Refused(UNKNOWN_MEMBER_ID)."""
        shard = self._runtime.shard_for(group.group_id)
        self._remove(shard, group, group.member(member_id), OVERDUE[Due.SESSION])

    def rebalance(self, group: StreamsGroup) -> None:
        """Raise the group's epoch: with the next heartbeat a new target is computed."""
        shard = self._runtime.shard_for(group.group_id)
        self._write(shard, group, [raised_record(group)], why="forced by the test")

    def move_task(
        self, group: StreamsGroup, task: TaskId, member_id: str, *, warms_up: bool
    ) -> None:
        """A member shall have this task in the place of who has it, or, while it warms up, a
        standby of it, for tests: Kafka 4.3.1 assigns no warm-up tasks. Raises Refused:
        UNKNOWN_MEMBER_ID, INVALID_REQUEST for a task that nobody else has, REBALANCE_IN_PROGRESS
        while an assignment is to be computed."""
        group.member(member_id)
        if group.epoch > group.target_epoch or not group.is_ready:
            text = f"the tasks of group {group.group_id!r} are about to be assigned: it is"
            raise Refused(Error.REBALANCE_IN_PROGRESS, f"{text} {group.state}")
        targets = moved(group.targets, task, member_id, warms_up=warms_up)
        epoch = group.epoch + 1
        records = [target_record(group.group_id, name, each) for name, each in targets.items()]
        last = target_epoch_record(group.group_id, epoch, self._runtime.now())
        shard = self._runtime.shard_for(group.group_id)
        change = [raised_record(group), *records, last]
        self._write(shard, group, change, why="a task moves, by the test")

    def raise_topology_epoch(self, group: StreamsGroup) -> int:
        """The group's topology is a newer one than its members have, for tests. Returns its epoch.
        Raises Refused(GROUP_ID_NOT_FOUND) for a group without any."""
        known = group.topology
        if known is None:
            raise Refused(Error.GROUP_ID_NOT_FOUND, f"group {group.group_id!r} has no topology")
        value = StreamsGroupTopologyValue(
            epoch=known.epoch + 1, subtopologies=[*known.subtopologies]
        )
        shard = self._runtime.shard_for(group.group_id)
        self._write(shard, group, [topology_record(group.group_id, value)])
        return known.epoch + 1

    # What becomes of groups

    def _write(
        self,
        shard: Shard,
        group: StreamsGroup,
        records: Sequence[MessageRecord],
        *,
        first: Sequence[Record] = (),
        departure: Departure = LEFT,
        why: str = "",
    ) -> None:
        """Write `first` and `records`, make this the group of its id, and apply `records`. Raises
        Refused."""
        if first or records:
            self._runtime.write(group.group_id, [*first, *records])
        shard.groups[group.group_id] = group
        if records:
            with told(self._runtime.telling, group, departure, why, CHANGE):
                for record in records:
                    group.apply(record)

    def _remove(
        self, shard: Shard, group: StreamsGroup, member: StreamsMember, departure: Departure
    ) -> None:
        self._write(shard, group, removal(group, member), departure=departure)
        for due in (Due.SESSION, Due.REBALANCE):
            group.deadlines.clear((due, member.member_id))
        group.revoking_epochs.pop(member.member_id, None)
        self._runtime.note_deadline(group)

    def replay(
        self, shard: Shard, record: MessageRecord, now: int, producer_id: int | None
    ) -> None:
        """Apply a record of a group, creating the group if need be."""
        group_id = record.group_id
        group = shard.groups.get(group_id)
        if not isinstance(group, StreamsGroup):
            # There may be a classic group, if offsets came first.
            if record.value is None:
                return
            group = StreamsGroup(group_id, self._runtime.settings, self._runtime.topics)
            shard.groups[group_id] = group
        group.apply(record)
        if record.value is None and isinstance(record.key, StreamsGroupMetadataKey):
            del shard.groups[group_id]

    def loaded(self, group: StreamsGroup, now: int) -> None:
        """Every member has a whole session before it."""
        session_ms = self._times_of(group.group_id).session_timeout_ms
        for member in group:
            group.deadlines.set((Due.SESSION, member.member_id), now + session_ms)
            if member.state is MemberState.UNREVOKED:
                time_revocation(group, member, now)
        self._runtime.note_deadline(group)

    def due(self, shard: Shard, group: StreamsGroup, now: int) -> None:
        """Act on the deadline that passed first. A refused write is tried again after a while."""
        key = group.deadlines.pop(now)
        if key is not None:
            try:
                self._act(shard, group, key, now)
            except Refused:
                group.deadlines.set(key, now + _TRY_AGAIN_MS)
        self._runtime.note_deadline(group)

    def _act(self, shard: Shard, group: StreamsGroup, key: tuple[Due, str], now: int) -> None:
        due, member_id = key
        if key == FIRST_ASSIGNMENT:
            self._write(shard, group, self._first_assignment(group, now))
            return
        member = group.members.get(member_id)
        is_late = due is Due.SESSION or (
            member is not None and group.revoking_epochs.get(member_id) == member.epoch
        )
        if member is not None and is_late:
            self._remove(shard, group, member, OVERDUE[due])

    def _first_assignment(self, group: StreamsGroup, now: int) -> list[MessageRecord]:
        """The records of the assignment for which a new group waited; none where its first member
        has sent no second heartbeat yet: then the next one computes it."""
        times, configured = self._times_of(group.group_id), group.unwritten.configured
        is_behind = bool(group.members) and group.epoch > group.target_epoch
        if not is_behind or configured is None or not is_time(group, times, now):
            return []
        standbys = int(group.last_configs.get(STANDBYS, "0"))
        return new_targets(group, configured, group.epoch, standbys, now)[1]

    def resigned(self, group: StreamsGroup, now: int) -> None:
        """Nothing is ever parked in a streams group, so nobody is to be answered."""
