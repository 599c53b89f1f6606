"""The coordinator's calls about streams groups (KIP-1071), and the streams groups themselves.

Rules (semantics N36, N37), besides those of every type (modern/calls.py): an Empty streams group
makes way for a classic one, not for a consumer or a share group.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ....wire.errors import Error, Refused
from ....wire.stored.streams_groups import StreamsGroupTopologyValue
from ...base.call import Call
from ..classic.calls import ClassicCalls, OtherGroups
from ..modern.calls import Departure, ModernCalls
from ..modern.group import Due
from ..modern.heartbeat import is_time
from ..modern.member import JOINING_EPOCH, LEAVE_EPOCH
from ..records import MessageRecord
from ..runtime import Runtime, Shard
from ..settings import ConfigsOf
from .group import StreamsGroup, Unwritten
from .heartbeat import STANDBYS, Request, Response, assigned, heartbeat
from .members import RECORDS, TaskId, moved, topology_record
from .topology import Configured, InternalTopic, Status


class CreationErrors:
    """The errors of a broker's latest attempts, by topic. Until one is forgotten the topic is not
    created again."""

    def __init__(self) -> None:
        self._errors: dict[str, tuple[str, int]] = {}

    def put(self, topic: str, message: str, until: int) -> None:
        """It failed; `until` (ms) is when that is forgotten."""
        self._errors[topic] = message, until

    def of(self, topics: Iterable[str], now: int) -> dict[str, str]:
        self._errors = {name: each for name, each in self._errors.items() if each[1] > now}
        return {name: self._errors[name][0] for name in topics if name in self._errors}


class StreamsCalls(ModernCalls[StreamsGroup]):
    group_class = StreamsGroup
    own_times = ("initial.rebalance.delay.ms", "num.standby.replicas")
    departures = {
        **ModernCalls.departures,
        Due.REBALANCE: Departure("kicked", "it did not give up its tasks in time"),
    }

    def __init__(self, runtime: Runtime, classic: ClassicCalls, configs_of: ConfigsOf) -> None:
        super().__init__(runtime, classic, configs_of)
        self.creation_errors = CreationErrors()
        classic.register(StreamsGroup, OtherGroups(classic, makes_way=True))

    # What members ask

    def heartbeat(
        self, call: Call, request: Request
    ) -> tuple[Response, Mapping[str, InternalTopic]]:
        """StreamsGroupHeartbeat of a valid request: the answer, and the internal topics that are to
        be created, by name. Raises Refused, with a message for the
        client."""
        shard = self._runtime.shard_for(request.group_id)
        if request.member_epoch == LEAVE_EPOCH:
            return self._leave(shard, request), {}
        group, first = self.group_for(
            shard, request.group_id, joins=request.member_epoch == JOINING_EPOCH
        )
        replaced = shard.groups.get(request.group_id)
        is_new = replaced is not group
        now, times = self._runtime.now(), self.times_of(request.group_id)
        try:
            outcome = heartbeat(group, call, request, times, now, shard.writes)
        except Refused:
            if not is_new:
                self._runtime.note_deadline(group)  # what it was to wait for goes on
            raise
        if is_new:  # a real broker makes another object of the records
            group.unwritten = Unwritten()
        self.write(shard, group, outcome.records, first=first)
        self._log_problem(group, outcome.problem)
        self._runtime.note_deadline(group)
        if replaced is None:
            outcome.answer.endpoint_information_epoch = 0
        return outcome.answer, outcome.missing

    def _log_problem(self, group: StreamsGroup, problem: Status | None) -> None:
        """Log the reason that keeps tasks from being assigned, once."""
        detail = "" if problem is None else problem.status_detail
        if detail and detail != group.logged_problem:
            self._runtime.events.add(group.group_id, "not ready", reason=detail)
        group.logged_problem = detail

    def _leave(self, shard: Shard, request: Request) -> Response:
        group = self.of_type(request.group_id, shard.groups.get(request.group_id))
        if request.shutdown_application and group.unwritten.shutdown_by is None:
            group.unwritten.shutdown_by = request.member_id
        self.remove(shard, group, [group.member(request.member_id)])
        return Response(
            member_id=request.member_id,
            member_epoch=request.member_epoch,
            heartbeat_interval_ms=0,
            acceptable_recovery_lag=0,
            task_offset_interval_ms=0,
            status=[],
            endpoint_information_epoch=0,
        )

    def configured(self, group: StreamsGroup) -> Configured | None:
        """A group's topology against the topics, as calls that only look see it."""
        return group.shown_configured(self._runtime.shard_for(group.group_id).writes)

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
        records = [group.target_record(name, each) for name, each in targets.items()]
        stamp = self._runtime.now() if group.settings.stamps_assignments else 0
        last = RECORDS.target_epoch_record(group.group_id, epoch, stamp)
        shard = self._runtime.shard_for(group.group_id)
        change = [group.raised(), *records, last]
        self.write(shard, group, change, why="a task moves, by the test")

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
        self.write(shard, group, [topology_record(group.group_id, value)])
        return known.epoch + 1

    # What becomes of groups

    def act(self, shard: Shard, group: StreamsGroup, due: Due, member_id: str, now: int) -> None:
        """Make the first assignment, or take out a member that is late. Raises Refused."""
        if due is Due.FIRST_ASSIGNMENT:
            self.write(shard, group, self._first_assignment(group, now))
        else:
            super().act(shard, group, due, member_id, now)

    def _first_assignment(self, group: StreamsGroup, now: int) -> list[MessageRecord]:
        """The records of the assignment for which a new group waited; none where its first member
        has sent no second heartbeat yet: then the next one computes it."""
        times, configured = self.times_of(group.group_id), group.unwritten.configured
        is_behind = bool(group.members) and group.epoch > group.target_epoch
        if not is_behind or configured is None or not is_time(group, times, now):
            return []
        standbys = int(group.last_configs.get(STANDBYS, "0"))
        return assigned(group, configured, group.epoch, standbys, now)[1]
