"""Tasks of a streams group: partition n of a subtopology, active or as a standby.

Warm-up tasks are left out: Kafka 4.3.1 assigns none and refuses members that report some; their
lists in records and answers are empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ....wire import Error, Refused

Tasks = Mapping[str, frozenset[int]]
"""Partitions by subtopology; no entry is empty."""
Epochs = Mapping[str, Mapping[int, int]]
"""The same, each partition with the group's epoch in which it was assigned."""
NO_TASKS: Tasks = {}
NO_EPOCHS: Epochs = {}


class TaskId(NamedTuple):
    """One task."""

    subtopology: str
    partition: int


class Target(NamedTuple):
    """The tasks that a member shall have."""

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

    @property
    def names_one_twice(self) -> bool:
        """Whether one list names a subtopology more than once."""
        return any(len(dict(each)) < len(each) for each in self)

    def is_part_of(self, held: Held) -> bool:
        """Whether the member has all of these."""
        return _are_in(self.active, held.active) and _are_in(self.standby, held.standby)

    def has_any_of(self, held: Held) -> bool:
        """Whether the member still has some of these."""
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
