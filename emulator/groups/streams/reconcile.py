"""One step of a member towards the target assignment (KIP-1071, semantics N33).

Rules, by the state of the member:
- STABLE: a newer target moves it.
- UNREVOKED: it stays until it reports tasks without those it has to give up.
- Tasks it shall not keep are given up first, in its old epoch. With none to give up it enters the
  target's epoch and gets the tasks that are free. For the others it waits (UNRELEASED).
- An active task is free if no member has it, and its own process not even as a standby; a standby
  is free if its own process has the task in no form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from ....wire.errors import Error, Refused
from .members import StreamsMember
from .states import MemberState
from .tasks import NONE_HELD, Epochs, Held, Owned, Target, TaskId, Tasks


class Holders:
    """Which processes have which tasks, or have not given them up yet."""

    def __init__(self) -> None:
        self._active: dict[TaskId, str] = {}
        self._standby: dict[TaskId, set[str]] = {}

    def add(self, member: StreamsMember) -> None:
        """A member has what it has."""
        for held in (member.assigned, member.revoking):
            for task in _ids(held.active):
                self._active[task] = member.process_id
            for task in _ids(held.standby):
                self._standby.setdefault(task, set()).add(member.process_id)

    def remove(self, member: StreamsMember) -> None:
        """A member has it no more."""
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
