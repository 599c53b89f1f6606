"""StreamsGroupHeartbeat of a member that joins or stays (KIP-1071).

Rules (semantics N27-N35), in their order:
- The group takes no more members than `group.streams.max.size` (81). Epoch 0 joins, also if the
  member is here already. Another epoch than the member's is fenced (110), except its previous one
  if it has all tasks that it reports: then an answer was lost.
- The first member brings the topology. A lower topology epoch is answered as stale; another
  topology is refused.
- The topology is held against the topics there are (topology.py). What is missing is answered.
- The group's epoch rises if the member changed, if its topics changed, if they begin or cease to
  fit the topology, and if the number of standbys changed.
- If the group's epoch is higher than the target assignment's, a new target is computed, but not
  within `streams.assignment.interval.ms` of the last, and for a group that was empty not before
  `streams.initial.rebalance.delay.ms` is over.
- Then the member goes one step towards its target (members.py).
- The answer holds its tasks if those changed or if it joins, and which partitions the members with
  an endpoint have, for interactive queries, if that changed (N35).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from ....wire.api.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)
from ....wire.errors import Error, Refused
from ...base.call import Call
from ...base.java_order import hash_map_order, int_order, timeline_order
from ..classic.members import host_of
from ..modern.group import FIRST_EPOCH, Due
from ..modern.heartbeat import (
    GroupTimes,
    fenced,
    full,
    is_time,
    new_targets,
    time_revocation,
)
from ..modern.member import JOINING_EPOCH, NO_TIMEOUT
from ..records import MessageRecord
from .assignor import MemberSpec, Work, assign
from .group import FIRST_ASSIGNMENT, StreamsGroup
from .members import (
    NOTHING,
    RECORDS,
    Endpoint,
    Epochs,
    Goal,
    Held,
    Owned,
    StreamsMember,
    Target,
    Tasks,
    reconcile,
    topology_record,
)
from .topology import (
    Configured,
    ConfiguredSubtopology,
    InternalTopic,
    Status,
    StatusCode,
    Topology,
    configure,
    topology_value,
)

Request: TypeAlias = StreamsGroupHeartbeatRequest
Response: TypeAlias = StreamsGroupHeartbeatResponse
STANDBYS = "num.standby.replicas"


class Outcome(NamedTuple):
    """The records to write and then to apply, the answer after that, how the topics do not fit the
    topology, and the internal topics that are to be created, by name."""

    records: list[MessageRecord]
    answer: Response
    problem: Status | None
    missing: Mapping[str, InternalTopic]


def heartbeat(
    group: StreamsGroup, call: Call, request: Request, times: GroupTimes, now: int, writes: int
) -> Outcome:
    """The outcome of a heartbeat; `writes`: how often the group's partition was written to. Raises
    Refused: GROUP_MAX_SIZE_REACHED, UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH, INVALID_REQUEST,
    STREAMS_INVALID_TOPOLOGY, UNKNOWN_SERVER_ERROR."""
    owned = Owned.of(request)
    before = _member(group, request, owned)
    updated = _updated(before, call, request)
    step = _Step(group, request, owned, times, now, writes)
    after = step.take(before, updated)
    group.deadlines.set((Due.SESSION, after.member_id), now + times.session_timeout_ms)
    kept = group.unwritten
    if request.shutdown_application:
        kept.shutdown_by = kept.shutdown_by or after.member_id
    news = _news(group, request, before, after)
    configured = step.configured
    if configured.problem is not None:
        step.statuses.append(configured.problem)
    if kept.shutdown_by is not None:
        text = (
            f"Streams group member {kept.shutdown_by} encountered a fatal error and requested a"
            " shutdown for the entire application."
        )
        step.statuses.append(
            Status(status_code=StatusCode.SHUTDOWN_APPLICATION, status_detail=text)
        )
    knows_places = kept.endpoint_epoch == request.endpoint_information_epoch
    answer = Response(
        member_id=after.member_id,
        member_epoch=after.epoch,
        heartbeat_interval_ms=times.heartbeat_interval_ms,
        acceptable_recovery_lag=0,
        task_offset_interval_ms=0,
        status=step.statuses,
        active_tasks=None if news is None else _task_ids(news.active),
        standby_tasks=None if news is None else _task_ids(news.standby),
        warmup_tasks=None if news is None else [],
        endpoint_information_epoch=kept.endpoint_epoch,
        partitions_by_user_endpoint=None if knows_places else places(group, after),
    )
    missing = configured.missing if configured.problem is not None else {}
    return Outcome(step.records, answer, configured.problem, missing)


def _task_ids(tasks: Epochs | Tasks) -> list[Response.TaskIds]:
    return [
        Response.TaskIds(subtopology_id=name, partitions=sorted(tasks[name]))
        for name in hash_map_order(sorted(tasks))
    ]


def _news(
    group: StreamsGroup, request: Request, before: StreamsMember, after: StreamsMember
) -> Held | None:
    """The tasks of the answer; None if the member knows them."""
    if request.member_epoch != JOINING_EPOCH and before.assigned == after.assigned:
        return None
    group.unwritten.places.pop(after.member_id, None)
    if after.endpoint is not None:
        group.unwritten.endpoint_epoch += 1
    return after.assigned


def _member(group: StreamsGroup, request: Request, owned: Owned | None) -> StreamsMember:
    """The member before the heartbeat: known or new."""
    if request.member_epoch == JOINING_EPOCH:
        if len(group) >= group.max_size:
            raise full(group)
        return group.members.get(request.member_id) or StreamsMember(request.member_id)
    member = group.member(request.member_id)
    if request.member_epoch == member.epoch:
        return member
    is_previous = (
        request.member_epoch == member.previous_epoch and request.member_epoch < member.epoch
    )
    if is_previous and owned is not None and owned.is_part_of(member.assigned):
        return member
    raise fenced(group, member, request.member_epoch)


def _updated(member: StreamsMember, call: Call, request: Request) -> StreamsMember:
    """The member with what it reports; what it does not report stays."""
    timeout, at = request.rebalance_timeout_ms, request.user_endpoint
    tags = None
    if request.client_tags is not None:
        tags = {tag.key: tag.value for tag in request.client_tags}
        if len(tags) < len(request.client_tags):  # a key is there twice
            raise Refused(Error.UNKNOWN_SERVER_ERROR)
    return replace(
        member,
        rack_id=member.rack_id if request.rack_id is None else request.rack_id,
        rebalance_timeout_ms=member.rebalance_timeout_ms if timeout == NO_TIMEOUT else timeout,
        topology_epoch=member.topology_epoch
        if request.topology is None
        else request.topology.epoch,
        process_id=member.process_id if request.process_id is None else request.process_id,
        endpoint=member.endpoint if at is None else Endpoint(at.host, at.port),
        client_tags=member.client_tags if tags is None else tags,
        client_id=call.client_id,
        client_host=host_of(call),
    )


class _Step:
    """The consequences of a heartbeat: for the group, its target, and the member."""

    def __init__(
        self,
        group: StreamsGroup,
        request: Request,
        owned: Owned | None,
        times: GroupTimes,
        now: int,
        writes: int,
    ) -> None:
        self.group = group
        self.owned = owned
        self.topology = None if request.topology is None else topology_value(request.topology)
        self.times = times
        self.now = now
        self.writes = writes
        self.records: list[MessageRecord] = []
        self.statuses: list[Status] = []
        self.configured: Configured

    def take(self, before: StreamsMember, updated: StreamsMember) -> StreamsMember:
        group = self.group
        is_changed = updated != before or updated.member_id not in group.members
        if is_changed:
            self.records.append(RECORDS.member_record(group.group_id, updated))
        topology = self._topology()
        known = group.topology
        if known is not None and updated.topology_epoch < known.epoch:
            text = (
                f"The member's topology epoch {updated.topology_epoch} is behind the group's"
                f" topology epoch {known.epoch}."
            )
            self.statuses.append(Status(status_code=StatusCode.STALE_TOPOLOGY, status_detail=text))
        epoch = self._group_epoch(topology, is_changed=is_changed)
        delay_ms = self.times.initial_rebalance_delay_ms
        if not group.members and delay_ms > 0 and group.deadlines.get(FIRST_ASSIGNMENT) is None:
            group.deadlines.set(FIRST_ASSIGNMENT, self.now + delay_ms)
        target_epoch, target = self._target(epoch, updated)
        after = reconcile(updated, Goal(target_epoch, target, group.holders, self.owned))
        if after != updated:
            self.records.append(group.current_record(after))
            time_revocation(group, after, self.now)
        return after

    def _topology(self) -> Topology:
        """The group's topology, perhaps the one that the member brings."""
        known = self.group.topology
        if self.topology is None:
            if known is None:
                raise Refused(Error.UNKNOWN_SERVER_ERROR)
            return known
        sent = Topology(self.topology)
        if known is None:
            self.records.append(topology_record(self.group.group_id, self.topology))
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
        self.records.append(group.record(epoch, metadata_hash, validated_epoch, configs))
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
        for reported in self.owned or ():
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

    def _target(self, epoch: int, updated: StreamsMember) -> tuple[int, Target]:
        """The target assignment's epoch and the member's target; recomputed if it is time."""
        group, times = self.group, self.times
        if group.deadlines.get(FIRST_ASSIGNMENT) is not None:
            self._delayed("initial rebalance delay")
            return max(FIRST_EPOCH, group.target_epoch), NOTHING
        if group.target_epoch < epoch:
            if is_time(group, times, self.now):
                targets, records = assigned(
                    group, self.configured, epoch, times.standbys, self.now, updated
                )
                self.records += records
                return epoch, targets[updated.member_id]
            self._delayed("assignment interval")
        return group.target_epoch, group.targets.get(updated.member_id, NOTHING)

    def _delayed(self, why: str) -> None:
        text = f"Assignment delayed due to the configured {why}."
        self.statuses.append(Status(status_code=StatusCode.ASSIGNMENT_DELAYED, status_detail=text))


def assigned(
    group: StreamsGroup,
    configured: Configured,
    epoch: int,
    standbys: int,
    now: int,
    updated: StreamsMember | None = None,
) -> tuple[Mapping[str, Target], list[MessageRecord]]:
    """The targets of all members, and the records of those that are new and of the epoch.
    `updated`: the member that is sending a heartbeat, as it is by that. Nobody gets anything while
    the topics do not fit the topology."""
    names = timeline_order(group.members, size=len(group) + 1)
    members = {name: group.members[name] for name in names}
    if updated is not None:
        members[updated.member_id] = updated
    members = {name: members[name] for name in hash_map_order(members)}
    targets: Mapping[str, Target] = dict.fromkeys(members, NOTHING)
    if configured.is_ready and configured.subtopologies is not None:
        specs = {
            name: MemberSpec(member.process_id, group.targets.get(name, NOTHING))
            for name, member in members.items()
        }
        work = {
            name: Work(each.tasks, bool(each.changelogs))
            for name, each in configured.subtopologies.items()
        }
        targets = assign(specs, work, standbys)
    return targets, [*new_targets(group, targets, epoch, now)]


def places(group: StreamsGroup, after: StreamsMember) -> list[Response.EndpointToPartitions]:
    """Of all members with an endpoint; `after`, the one that sent a heartbeat, comes last. Raises
    Refused(UNKNOWN_SERVER_ERROR) while topics are missing, as a real broker fails then."""
    names = timeline_order(group.members, size=len(group) + 1)
    others = [group.members[name] for name in names if name != after.member_id]
    return [_kept(group, each) for each in (*others, after) if each.endpoint is not None]


def _kept(group: StreamsGroup, member: StreamsMember) -> Response.EndpointToPartitions:
    """The place sent last, until the member's records are written: the answer to the heartbeat that
    changes an endpoint has the old one, if that was sent before."""
    sent = group.unwritten.places
    if member.member_id not in sent:
        sent[member.member_id] = _place(group, member)
    return sent[member.member_id]


def _place(group: StreamsGroup, member: StreamsMember) -> Response.EndpointToPartitions:
    configured = group.unwritten.configured
    if configured is None or configured.subtopologies is None or member.endpoint is None:
        raise Refused(Error.UNKNOWN_SERVER_ERROR)
    held, subtopologies = member.assigned, configured.subtopologies
    return Response.EndpointToPartitions(
        user_endpoint=Response.Endpoint(host=member.endpoint.host, port=member.endpoint.port),
        active_partitions=_partitions(group, held.active, subtopologies),
        standby_partitions=_partitions(group, held.standby, subtopologies),
    )


def _partitions(
    group: StreamsGroup, held: Epochs | Tasks, subtopologies: Mapping[str, ConfiguredSubtopology]
) -> list[Response.TopicPartition]:
    """A topic with fewer partitions than there are tasks has so many of their lowest numbers."""
    found: list[Response.TopicPartition] = []
    for name in hash_map_order(held):
        subtopology = subtopologies.get(name)
        if subtopology is None:
            raise Refused(Error.UNKNOWN_SERVER_ERROR)
        topics = [*hash_map_order(subtopology.source_topics), *subtopology.repartition_sources]
        for topic_name in hash_map_order(topics):
            topic = group.view.catalogue.get(topic_name)
            if topic is None:
                raise Refused(Error.UNKNOWN_SERVER_ERROR)
            numbers = int_order(held[name])
            count = len(topic.partitions)
            if count < len(numbers):
                numbers = sorted(numbers)[:count]
            found.append(Response.TopicPartition(topic=topic_name, partitions=numbers))
    return found
