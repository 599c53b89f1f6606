"""A member of a streams group (KIP-1071), its tasks, one step of it towards the target, and the
records of a group.

A task is partition n of a subtopology, active or as a standby. Each active task of a member is kept
with the group's epoch in which it was assigned (KIP-1251). Warm-up tasks are left out: Kafka 4.3.1
assigns none and refuses members that report some; their lists in records and answers are empty.

Rules of a step (semantics N33), by the state of the member:
- STABLE: a newer target moves it.
- UNREVOKED: it stays until it reports tasks without those it has to give up.
- Tasks it shall not keep are given up first, in its old epoch. With none to give up it enters the
  target's epoch and gets the tasks that are free. For the others it waits (UNRELEASED).
- An active task is free if no member has it, and its own process not even as a standby; a standby
  is free if its own process has the task in no form.

A record type is its number in `__consumer_offsets`; a null value deletes what the key names. They
are written in this order (semantics N39): a member 19, the topology 23, the group 17, targets 21
and 20, a member's tasks 22; when a member leaves 22, 21, 19, 17.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

from ....wire.api.streams_group_heartbeat import StreamsGroupHeartbeatRequest
from ....wire.errors import Error, Refused
from ....wire.stored import streams_groups as stored
from ....wire.stored.streams_groups import (
    StreamsGroupCurrentMemberAssignmentValue as CurrentValue,
)
from ....wire.stored.streams_groups import StreamsGroupMemberMetadataValue as MemberValue
from ..modern.member import MemberState, ModernMember
from ..modern.records import GroupRecords, tombstones
from ..records import MessageRecord

Tasks = Mapping[str, frozenset[int]]
"""Partitions by subtopology; no entry is empty."""
Epochs = Mapping[str, Mapping[int, int]]
"""The same, each partition with the group's epoch in which it was assigned."""
NO_TASKS: Tasks = {}
NO_EPOCHS: Epochs = {}


class TaskId(NamedTuple):
    subtopology: str
    partition: int


class Target(NamedTuple):
    active: Tasks = NO_TASKS
    standby: Tasks = NO_TASKS


class Held(NamedTuple):
    """The tasks that a member has, or has not given up yet."""

    active: Epochs = NO_EPOCHS
    standby: Tasks = NO_TASKS

    def __bool__(self) -> bool:
        return bool(self.active or self.standby)


NOTHING = Target()
NONE_HELD = Held()


class Owned(NamedTuple):
    """The tasks that a member reports; a subtopology may be named more than once."""

    active: tuple[tuple[str, tuple[int, ...]], ...]
    standby: tuple[tuple[str, tuple[int, ...]], ...]

    @classmethod
    def of(cls, request: StreamsGroupHeartbeatRequest) -> Owned | None:
        """The tasks that a heartbeat reports; None if it reports nothing."""
        if request.active_tasks is None or request.standby_tasks is None:
            return None
        active, standby = (
            tuple((each.subtopology_id, tuple(each.partitions)) for each in tasks)
            for tasks in (request.active_tasks, request.standby_tasks)
        )
        return cls(active, standby)

    @property
    def names_one_twice(self) -> bool:
        return any(len(dict(each)) < len(each) for each in self)

    def is_part_of(self, held: Held) -> bool:
        return _are_in(self.active, held.active) and _are_in(self.standby, held.standby)

    def has_any_of(self, held: Held) -> bool:
        return _touch(self.active, held.active) or _touch(self.standby, held.standby)


def moved(
    targets: Mapping[str, Target], task: TaskId, member_id: str, *, warms_up: bool
) -> dict[str, Target]:
    """The targets, by member id, when a member has this task in the place of others, or, while it
    warms up, a standby of it. Raises Refused(INVALID_REQUEST) unless another member has it."""
    name, number = task
    others = [
        each
        for each, target in targets.items()
        if number in target.active.get(name, ()) and each != member_id
    ]
    if not others:
        text = f"task {name}_{number} is no other member's, so it cannot move"
        raise Refused(Error.INVALID_REQUEST, text)

    def changed(each: str, target: Target) -> Target:
        if each != member_id:
            return target if warms_up else Target(_without(target.active, task), target.standby)
        standby = _without(target.standby, task)
        if warms_up:
            return Target(target.active, _with(standby, task))
        return Target(_with(target.active, task), standby)

    return {each: changed(each, target) for each, target in targets.items()}


def _without(tasks: Tasks, task: TaskId) -> Tasks:
    left = {**tasks, task.subtopology: tasks.get(task.subtopology, frozenset()) - {task.partition}}
    return {name: numbers for name, numbers in left.items() if numbers}


def _with(tasks: Tasks, task: TaskId) -> Tasks:
    name, number = task
    return {**tasks, name: tasks.get(name, frozenset()) | {number}}


_Held = Mapping[str, Mapping[int, int]] | Mapping[str, frozenset[int]]


def _are_in(reported: Iterable[tuple[str, tuple[int, ...]]], held: _Held) -> bool:
    return all(
        subtopology in held and all(each in held[subtopology] for each in partitions)
        for subtopology, partitions in reported
    )


def _touch(reported: Iterable[tuple[str, tuple[int, ...]]], held: _Held) -> bool:
    return any(
        each in held.get(subtopology, ())
        for subtopology, partitions in reported
        for each in partitions
    )


NO_TOPOLOGY_EPOCH = -1

_STORED_STATES = {
    1: MemberState.STABLE,
    2: MemberState.UNREVOKED,
    3: MemberState.UNRELEASED,
    127: MemberState.UNKNOWN,
}
_STORED_AS = {state: number for number, state in _STORED_STATES.items()}


class Endpoint(NamedTuple):
    """Where a member answers interactive queries."""

    host: str
    port: int


@dataclass(frozen=True, slots=True)
class StreamsMember(ModernMember[Held]):
    nothing: ClassVar[Held] = NONE_HELD

    assigned: Held = NONE_HELD
    revoking: Held = NONE_HELD
    topology_epoch: int = NO_TOPOLOGY_EPOCH
    process_id: str = ""
    endpoint: Endpoint | None = None
    client_tags: Mapping[str, str] = field(default_factory=dict)

    def given_in(self, subtopology: str, partition: int) -> int | None:
        """The epoch in which an active task was assigned that it has, or has not given up yet."""
        given = self.assigned.active.get(subtopology, {}).get(partition)
        return self.revoking.active.get(subtopology, {}).get(partition) if given is None else given

    def reported_value(self) -> MemberValue:
        """The value of its record 19."""
        at = self.endpoint
        return MemberValue(
            instance_id=None,
            rack_id=self.rack_id,
            client_id=self.client_id,
            client_host=self.client_host,
            rebalance_timeout_ms=self.rebalance_timeout_ms,
            topology_epoch=self.topology_epoch,
            process_id=self.process_id,
            user_endpoint=None if at is None else MemberValue.Endpoint(host=at.host, port=at.port),
            client_tags=[
                MemberValue.KeyValue(key=key, value=value)
                for key, value in sorted(self.client_tags.items())
            ],
        )

    def with_reported(self, value: MemberValue) -> StreamsMember:
        """The member with the value of record 19; its tasks stay."""
        at = value.user_endpoint
        return replace(
            self,
            rack_id=value.rack_id,
            client_id=value.client_id,
            client_host=value.client_host,
            rebalance_timeout_ms=value.rebalance_timeout_ms,
            topology_epoch=value.topology_epoch,
            process_id=value.process_id,
            endpoint=None if at is None else Endpoint(at.host, at.port),
            client_tags={tag.key: tag.value for tag in value.client_tags},
        )

    def current_value(self) -> CurrentValue:
        """The value of its record 22."""
        return CurrentValue(
            member_epoch=self.epoch,
            previous_member_epoch=self.previous_epoch,
            state=_STORED_AS[self.state],
            active_tasks=_stored_epochs(self.assigned.active),
            standby_tasks=_stored(self.assigned.standby),
            warmup_tasks=[],
            active_tasks_pending_revocation=_stored_epochs(self.revoking.active),
            standby_tasks_pending_revocation=_stored(self.revoking.standby),
            warmup_tasks_pending_revocation=[],
        )

    def with_current(self, value: CurrentValue) -> StreamsMember:
        """The member with the value of record 22."""
        epoch, standby = value.member_epoch, value.standby_tasks_pending_revocation
        revoking = _restored_epochs(value.active_tasks_pending_revocation, epoch)
        return replace(
            self,
            epoch=epoch,
            previous_epoch=value.previous_member_epoch,
            state=_STORED_STATES.get(value.state, MemberState.UNKNOWN),
            assigned=Held(
                _restored_epochs(value.active_tasks, epoch), _restored(value.standby_tasks)
            ),
            revoking=Held(revoking, _restored(standby)),
        )


def _stored_epochs(held: Epochs) -> list[CurrentValue.TaskIds]:
    return [
        CurrentValue.TaskIds(
            subtopology_id=subtopology,
            partitions=sorted(held[subtopology]),
            assignment_epochs=[held[subtopology][each] for each in sorted(held[subtopology])],
        )
        for subtopology in sorted(held)
    ]


def _stored(held: Tasks) -> list[CurrentValue.TaskIds]:
    return [
        CurrentValue.TaskIds(subtopology_id=each, partitions=sorted(held[each]))
        for each in sorted(held)
    ]


def _restored_epochs(stored: list[CurrentValue.TaskIds], member_epoch: int) -> Epochs:
    held = {}
    for tasks in stored:
        epochs = tasks.assignment_epochs or ()
        if len(epochs) != len(tasks.partitions):  # written before KIP-1251
            epochs = [member_epoch] * len(tasks.partitions)
        held[tasks.subtopology_id] = dict(zip(tasks.partitions, epochs, strict=True))
    return held


def _restored(stored: list[CurrentValue.TaskIds]) -> Tasks:
    return {tasks.subtopology_id: frozenset(tasks.partitions) for tasks in stored}


class Holders:
    """Which processes have which tasks, or have not given them up yet."""

    def __init__(self) -> None:
        self._active: dict[TaskId, str] = {}
        self._standby: dict[TaskId, set[str]] = {}

    def add(self, member: StreamsMember) -> None:
        for held in (member.assigned, member.revoking):
            for task in _ids(held.active):
                self._active[task] = member.process_id
            for task in _ids(held.standby):
                self._standby.setdefault(task, set()).add(member.process_id)

    def remove(self, member: StreamsMember) -> None:
        for held in (member.assigned, member.revoking):
            for task in _ids(held.active):
                if self._active.get(task) == member.process_id:
                    del self._active[task]
            for task in _ids(held.standby):
                self._standby.get(task, set()).discard(member.process_id)

    def is_active_free(self, task: TaskId, process_id: str) -> bool:
        """Whether a member of this process can have it as an active task."""
        return task not in self._active and process_id not in self._standby.get(task, ())

    def is_standby_free(self, task: TaskId, process_id: str) -> bool:
        """Whether a member of this process can have it as a standby."""
        in_standby = process_id in self._standby.get(task, ())
        return self._active.get(task) != process_id and not in_standby


def _ids(tasks: Epochs | Tasks) -> Iterable[TaskId]:
    return (TaskId(name, number) for name, numbers in tasks.items() for number in numbers)


class Goal(NamedTuple):
    """The target of a member, and what its next step depends on."""

    epoch: int
    target: Target
    holders: Holders
    owned: Owned | None
    """The tasks that the member reports; None if it reports none."""


def reconcile(member: StreamsMember, goal: Goal) -> StreamsMember:
    """The member after this step; the same object if nothing changes. Raises Refused:
    UNKNOWN_SERVER_ERROR if it reports a subtopology twice, FENCED_MEMBER_EPOCH for one whose state
    is not known."""
    if member.is_reconciled_to(goal.epoch):
        return member
    owned = goal.owned
    if owned is not None and owned.names_one_twice:
        raise Refused(Error.UNKNOWN_SERVER_ERROR)
    if member.state is MemberState.UNREVOKED:
        if owned is None or owned.has_any_of(member.revoking):
            return member
        return _next(member, member.epoch + 1, goal)
    if member.state is MemberState.UNKNOWN:
        if owned is None or any(owned):
            message = (
                "The streams group member is in a unknown state. The member must abandon all its"
                " tasks and rejoin."
            )
            raise Refused(Error.FENCED_MEMBER_EPOCH, message)
        return _next(member, goal.epoch, goal)
    return _next(member, member.epoch, goal)


class _Split(NamedTuple):
    """The tasks of one kind: what stays, goes, and comes; and whether some are not free yet."""

    kept: dict[str, dict[int, int]]
    revoking: dict[str, dict[int, int]]
    free: dict[str, dict[int, int]]
    is_waiting: bool


def _next(member: StreamsMember, epoch: int, goal: Goal) -> StreamsMember:
    """`epoch`: the member's while it gives up tasks."""
    holders, process_id = goal.holders, member.process_id
    active = _split(
        member.assigned.active,
        *(goal.target.active, goal.epoch),
        lambda task: holders.is_active_free(task, process_id),
    )
    standby = _split(
        {name: dict.fromkeys(numbers, 0) for name, numbers in member.assigned.standby.items()},
        *(goal.target.standby, 0),
        lambda task: holders.is_standby_free(task, process_id),
    )
    revoking = Held(active.revoking, _without_epochs(standby.revoking))
    if revoking and (goal.owned is None or goal.owned.has_any_of(revoking)):
        kept = Held(active.kept, _without_epochs(standby.kept))
        return member.moved(MemberState.UNREVOKED, epoch, kept, revoking)
    assigned = Held(_merged(active), _without_epochs(_merged(standby)))
    is_waiting = active.is_waiting or standby.is_waiting
    state = MemberState.UNRELEASED if is_waiting else MemberState.STABLE
    return member.moved(state, goal.epoch, assigned, NONE_HELD)


def _split(held: Epochs, target: Tasks, epoch: int, is_free: Callable[[TaskId], bool]) -> _Split:
    split = _Split({}, {}, {}, False)
    for name, numbers in held.items():
        for number, given in numbers.items():
            place = split.kept if number in target.get(name, ()) else split.revoking
            place.setdefault(name, {})[number] = given
    is_waiting = False
    for name, wanted in target.items():
        for number in sorted(wanted.difference(held.get(name, ()))):
            if is_free(TaskId(name, number)):
                split.free.setdefault(name, {})[number] = epoch
            else:
                is_waiting = True
    return split._replace(is_waiting=is_waiting)


def _merged(split: _Split) -> dict[str, dict[int, int]]:
    merged = {name: dict(numbers) for name, numbers in split.kept.items()}
    for name, numbers in split.free.items():
        merged.setdefault(name, {}).update(numbers)
    return merged


def _without_epochs(tasks: Epochs) -> Tasks:
    return {name: frozenset(numbers) for name, numbers in tasks.items()}


RECORDS = GroupRecords(
    group=(stored.StreamsGroupMetadataKey, stored.StreamsGroupMetadataValue),
    member=(stored.StreamsGroupMemberMetadataKey, stored.StreamsGroupMemberMetadataValue),
    target_epoch=(
        stored.StreamsGroupTargetAssignmentMetadataKey,
        stored.StreamsGroupTargetAssignmentMetadataValue,
    ),
    target=(
        stored.StreamsGroupTargetAssignmentMemberKey,
        stored.StreamsGroupTargetAssignmentMemberValue,
    ),
    current=(
        stored.StreamsGroupCurrentMemberAssignmentKey,
        stored.StreamsGroupCurrentMemberAssignmentValue,
    ),
    others={stored.StreamsGroupTopologyKey: stored.StreamsGroupTopologyValue},
)


def target_value(target: Target) -> stored.StreamsGroupTargetAssignmentMemberValue:
    """21: the target of a member."""
    return stored.StreamsGroupTargetAssignmentMemberValue(
        active_tasks=_target_tasks(target.active),
        standby_tasks=_target_tasks(target.standby),
        warmup_tasks=[],
    )


def _target_tasks(tasks: Tasks) -> list[stored.StreamsGroupTargetAssignmentMemberValue.TaskIds]:
    return [
        stored.StreamsGroupTargetAssignmentMemberValue.TaskIds(
            subtopology_id=each, partitions=sorted(tasks[each])
        )
        for each in sorted(tasks)
    ]


def topology_record(group_id: str, topology: stored.StreamsGroupTopologyValue) -> MessageRecord:
    """23: the topology."""
    return MessageRecord(stored.StreamsGroupTopologyKey(group_id=group_id), topology)


def group_tombstones(group_id: str) -> list[MessageRecord]:
    """All records of a group without members, deleted: 20, 17 and 23."""
    return tombstones(
        group_id, RECORDS.target_epoch_key, RECORDS.group_key, stored.StreamsGroupTopologyKey
    )
