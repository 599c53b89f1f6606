"""StreamsGroupHeartbeat of a member that joins or stays (KIP-1071).

Rules (semantics N27-N35), in their order:
- The group takes no more members than `group.streams.max.size` (81). Epoch 0 joins, also if the
  member is here already. Another epoch than the member's is fenced (110), except its previous one
  if it has all tasks that it reports: then an answer was lost.
- The first member brings the topology. A lower topology epoch is told to be stale; another topology
  is refused.
- The topology is held against the topics there are (configured.py). What is missing is told.
- The group's epoch rises if the member changed, if its topics changed, if they begin or cease to
  fit the topology, and if the number of standbys changed.
- If the group's epoch is higher than the target assignment's, a new target is computed, but not
  within `streams.assignment.interval.ms` of the last, and for a group that was empty not before
  `streams.initial.rebalance.delay.ms` is over.
- Then the member goes one step towards its target (reconcile.py).
- The answer holds its tasks if those changed or if it joins.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from ....wire.errors import Error, Refused
from ..records import MessageRecord
from .assigning import new_targets
from .configured import Configured, configure
from .group import FIRST_ASSIGNMENT, Due, StreamsGroup
from .members import JOINING_EPOCH, NO_TIMEOUT, StreamsMember
from .messages import StreamsAnswer, StreamsBeat
from .places import places
from .reconcile import Goal, reconcile
from .records import (
    current_record,
    group_record,
    member_record,
    member_tombstones,
    topology_record,
)
from .states import MemberState, Status, StatusCode
from .tasks import NOTHING, Held, Target
from .topology import Topology

STANDBYS = "num.standby.replicas"


class StreamsTimes(NamedTuple):
    """What a group's configs say: milliseconds, and the number of standbys of each task."""

    session_timeout_ms: int
    heartbeat_interval_ms: int
    assignment_interval_ms: int
    initial_rebalance_delay_ms: int
    standbys: int


class Outcome(NamedTuple):
    """The records to write and then to apply, the answer after that, and how the topics do not fit
    the topology."""

    records: list[MessageRecord]
    answer: StreamsAnswer
    problem: Status | None


def heartbeat(
    group: StreamsGroup, beat: StreamsBeat, times: StreamsTimes, now: int, writes: int
) -> Outcome:
    """What a heartbeat leads to; `writes`: how often the group's partition was written to. Raises
    Refused: GROUP_MAX_SIZE_REACHED, UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH, INVALID_REQUEST,
    STREAMS_INVALID_TOPOLOGY, UNKNOWN_SERVER_ERROR."""
    before = _member(group, beat)
    told = _updated(before, beat)
    step = _Step(group, beat, times, now, writes)
    after = step.take(before, told)
    group.deadlines.set((Due.SESSION, after.member_id), now + times.session_timeout_ms)
    kept = group.unwritten
    if beat.shuts_down:
        kept.shutdown_by = kept.shutdown_by or after.member_id
    assigned = _news(group, beat, before, after)
    configured = step.configured
    if configured.problem is not None:
        step.statuses.append(configured.problem)
    if kept.shutdown_by is not None:
        text = (
            f"Streams group member {kept.shutdown_by} encountered a fatal error and requested a"
            " shutdown for the entire application."
        )
        step.statuses.append(Status(StatusCode.SHUTDOWN_APPLICATION, text))
    answer = StreamsAnswer(
        after.member_id,
        after.epoch,
        times.heartbeat_interval_ms,
        step.statuses,
        assigned,
        kept.endpoint_epoch,
        places(group, after) if kept.endpoint_epoch != beat.endpoint_epoch else None,
        configured.missing if configured.problem is not None else {},
    )
    return Outcome(step.records, answer, configured.problem)


def removal(group: StreamsGroup, member: StreamsMember) -> list[MessageRecord]:
    """The records of removing a member."""
    return [
        *member_tombstones(group.group_id, member.member_id),
        raised_record(group),
    ]


def raised_record(group: StreamsGroup) -> MessageRecord:
    """The record that raises the group's epoch, and changes nothing else."""
    return group_record(
        *(group.group_id, group.epoch + 1, group.metadata_hash, group.validated_epoch),
        group.last_configs,
    )


def time_revocation(group: StreamsGroup, member: StreamsMember, now: int) -> None:
    """Start or stop the timer in which a member has to give up tasks."""
    key = (Due.REBALANCE, member.member_id)
    if member.state is MemberState.UNREVOKED:
        group.revoking_epochs[member.member_id] = member.epoch
        group.deadlines.set(key, now + max(member.rebalance_timeout_ms, 0))
    else:
        group.deadlines.clear(key)


def _news(
    group: StreamsGroup, beat: StreamsBeat, before: StreamsMember, after: StreamsMember
) -> Held | None:
    """The tasks that the member is told; None if it knows them."""
    if beat.epoch != JOINING_EPOCH and before.assigned == after.assigned:
        return None
    group.unwritten.places.pop(after.member_id, None)
    if after.endpoint is not None:
        group.unwritten.endpoint_epoch += 1
    return after.assigned


def _member(group: StreamsGroup, beat: StreamsBeat) -> StreamsMember:
    """The member before the heartbeat: known or new."""
    if beat.epoch == JOINING_EPOCH:
        most = group.settings.streams_max_size
        if len(group) >= most:
            message = f"The streams group has reached its maximum capacity of {most} members."
            raise Refused(Error.GROUP_MAX_SIZE_REACHED, message)
        return group.members.get(beat.member_id) or StreamsMember(beat.member_id)
    member = group.member(beat.member_id)
    if beat.epoch == member.epoch:
        return member
    is_previous = beat.epoch == member.previous_epoch and beat.epoch < member.epoch
    if is_previous and beat.owned is not None and beat.owned.is_part_of(member.assigned):
        return member
    difference = "greater" if beat.epoch > member.epoch else "smaller"
    message = (
        f"The streams group member has a {difference} member epoch ({beat.epoch}) than the one"
        f" known by the group coordinator ({member.epoch}). The member must abandon all its"
        " partitions and rejoin."
    )
    raise Refused(Error.FENCED_MEMBER_EPOCH, message)


def _updated(member: StreamsMember, beat: StreamsBeat) -> StreamsMember:
    """The member with what it reports; what it does not report stays."""
    tags, timeout = beat.client_tags, beat.rebalance_timeout_ms
    if tags is not None and len(dict(tags)) < len(tags):
        raise Refused(Error.UNKNOWN_SERVER_ERROR)
    return replace(
        member,
        rack_id=member.rack_id if beat.rack_id is None else beat.rack_id,
        rebalance_timeout_ms=member.rebalance_timeout_ms if timeout == NO_TIMEOUT else timeout,
        topology_epoch=member.topology_epoch if beat.topology is None else beat.topology.epoch,
        process_id=member.process_id if beat.process_id is None else beat.process_id,
        endpoint=member.endpoint if beat.endpoint is None else beat.endpoint,
        client_tags=member.client_tags if tags is None else dict(tags),
        client_id=beat.client_id,
        client_host=beat.client_host,
    )


class _Step:
    """What follows from a heartbeat: for the group, its target, and the member."""

    def __init__(
        self, group: StreamsGroup, beat: StreamsBeat, times: StreamsTimes, now: int, writes: int
    ) -> None:
        self.group = group
        self.beat = beat
        self.times = times
        self.now = now
        self.writes = writes
        self.records: list[MessageRecord] = []
        self.statuses: list[Status] = []
        self.configured: Configured

    def take(self, before: StreamsMember, told: StreamsMember) -> StreamsMember:
        """The member after the step."""
        group = self.group
        is_changed = told != before or told.member_id not in group.members
        if is_changed:
            self.records.append(member_record(group.group_id, told))
        topology = self._topology()
        known = group.topology
        if known is not None and told.topology_epoch < known.epoch:
            text = (
                f"The member's topology epoch {told.topology_epoch} is behind the group's topology"
                f" epoch {known.epoch}."
            )
            self.statuses.append(Status(StatusCode.STALE_TOPOLOGY, text))
        epoch = self._group_epoch(topology, is_changed=is_changed)
        delay_ms = self.times.initial_rebalance_delay_ms
        if not group.members and delay_ms > 0 and group.deadlines.get(FIRST_ASSIGNMENT) is None:
            group.deadlines.set(FIRST_ASSIGNMENT, self.now + delay_ms)
        target_epoch, target = self._target(epoch, told)
        after = reconcile(told, Goal(target_epoch, target, group.holders, self.beat.owned))
        if after != told:
            self.records.append(current_record(group.group_id, after))
            time_revocation(group, after, self.now)
        return after

    def _topology(self) -> Topology:
        """The group's topology, perhaps the one that the member brings."""
        known = self.group.topology
        if self.beat.topology is None:
            if known is None:
                raise Refused(Error.UNKNOWN_SERVER_ERROR)
            return known
        sent = Topology(self.beat.topology)
        if known is None:
            self.records.append(topology_record(self.group.group_id, self.beat.topology))
            return sent
        if sent.epoch >= known.epoch and sent != known:
            raise Refused(Error.INVALID_REQUEST, "Topology updates are not supported yet.")
        return known

    def _group_epoch(self, topology: Topology, *, is_changed: bool) -> int:
        """The group's epoch after the step."""
        group = self.group
        metadata_hash = self._configure(topology)
        is_changed |= metadata_hash != group.metadata_hash
        validated_epoch = -1
        if self.configured.is_ready:
            validated_epoch = topology.epoch
            self._check_tasks()
        configs = {STANDBYS: str(self.times.standbys)}
        is_changed |= validated_epoch != group.validated_epoch or configs != group.last_configs
        if not is_changed:
            return group.epoch
        epoch = group.epoch + 1
        group.unwritten.compared_epoch = epoch
        record = group_record(group.group_id, epoch, metadata_hash, validated_epoch, configs)
        self.records.append(record)
        return epoch

    def _configure(self, topology: Topology) -> int:
        """Hold the topology against the topics, if either may have changed. Returns the hash of
        the topics."""
        group, kept = self.group, self.group.unwritten
        if kept.seen_generation != group.view.generation:
            seen_hash = group.view.hash_of(topology.required_topics)
            if seen_hash != kept.seen_hash:
                kept.compared_epoch = None
            kept.seen_hash, kept.seen_generation = seen_hash, group.view.generation
        is_compared = kept.compared_epoch is not None and kept.compared_epoch <= group.epoch
        if kept.configured is not None and is_compared:
            self.configured = kept.configured
            return group.metadata_hash
        metadata_hash = kept.seen_hash
        if kept.configured is None or metadata_hash != group.metadata_hash:
            group.set_configured(configure(topology, group.view), self.writes)
        assert kept.configured is not None
        self.configured = kept.configured
        return metadata_hash

    def _check_tasks(self) -> None:
        """Raises Refused(INVALID_REQUEST) if the member reports tasks that there are not."""
        subtopologies = self.configured.subtopologies or {}
        for reported in self.beat.owned or ():
            for name, numbers in reported:
                if name not in subtopologies:
                    message = f"Subtopology {name} does not exist in the topology."
                    raise Refused(Error.INVALID_REQUEST, message)
                count = subtopologies[name].tasks
                for number in numbers:
                    if not 0 <= number < count:
                        message = (
                            f"Task {number} for subtopology {name} is invalid. Number of tasks for"
                            f" this subtopology: {count}"
                        )
                        raise Refused(Error.INVALID_REQUEST, message)

    def _target(self, epoch: int, told: StreamsMember) -> tuple[int, Target]:
        """The target assignment's epoch and the member's target; recomputed if it is time."""
        group, times = self.group, self.times
        if group.deadlines.get(FIRST_ASSIGNMENT) is not None:
            self._delayed("initial rebalance delay")
            return group.target_epoch, NOTHING
        if group.target_epoch < epoch:
            if is_time(group, times, self.now):
                targets, records = new_targets(
                    group, self.configured, epoch, times.standbys, self.now, told
                )
                self.records += records
                return epoch, targets[told.member_id]
            self._delayed("assignment interval")
        return group.target_epoch, group.targets.get(told.member_id, NOTHING)

    def _delayed(self, why: str) -> None:
        text = f"Assignment delayed due to the configured {why}."
        self.statuses.append(Status(StatusCode.ASSIGNMENT_DELAYED, text))


def is_time(group: StreamsGroup, times: StreamsTimes, now: int) -> bool:
    """Whether a new target may be computed so soon after the last."""
    last, interval_ms = group.target_timestamp, times.assignment_interval_ms
    return last == 0 or interval_ms == 0 or now >= last + interval_ms
