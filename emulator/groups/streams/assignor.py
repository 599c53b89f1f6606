"""The assignor `sticky` of streams groups (KIP-1071, semantics N34).

Rules:
- Every active task has one member, each member about equally many. A task stays with its member,
  goes to a member that has it as a standby, or to the least loaded process and there to its least
  loaded member. A process is loaded by its tasks per member.
- Each task of a subtopology with changelogs has so many standbys, each in another process than the
  active task and the other standbys, as far as there are processes.
- Where a choice is free, a real broker's follows from the order of its hash maps and heaps; ours is
  the same (base/java_order.py, base/java_queue.py). Source: Kafka 4.3.1 (StickyTaskAssignor).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ...base.java_order import hash_map_order
from ...base.java_queue import JavaQueue
from .members import NOTHING, Target, TaskId, Tasks


class Share:
    """How many tasks each member should have: what is left for those that have not got theirs yet,
    divided among them."""

    def __init__(self, tasks: int, members: int) -> None:
        self._tasks = tasks
        self._members = members
        self.each = self._divided()

    def given(self, count: int) -> None:
        """A member has so many by now. With a full share it is out of the reckoning."""
        if count == self.each:
            self._members -= 1
            self._tasks -= count
            self.each = self._divided()

    def _divided(self) -> int:
        return -(-self._tasks // self._members) if self._members else 0


class _Load:
    """A member in the queue of its process: its tasks when it was put there."""

    def __init__(self, member_id: str, count: int) -> None:
        self.member_id = member_id
        self.count = count


class Process:
    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        """Each member's number of tasks."""
        self.tasks: set[TaskId] = set()
        self.active: dict[str, set[TaskId]] = {}
        self.standby: dict[str, set[TaskId]] = {}
        self._number = 0
        self._queue: JavaQueue[_Load] | None = None

    @property
    def load(self) -> float:
        """Tasks per member."""
        return self._number / len(self.counts)

    def add_member(self, member_id: str) -> None:
        self.counts[member_id] = 0

    def add(self, member_id: str, task: TaskId, *, is_active: bool) -> int:
        """Give a task to a member. Returns how many it has then."""
        self._queue = None
        return self._add(member_id, task, is_active=is_active)

    def add_to_least_loaded(self, task: TaskId, *, is_active: bool) -> int:
        """Give a task to the member that has the fewest. Returns how many it has then."""
        if len(self.counts) == 1:
            return self._add(next(iter(self.counts)), task, is_active=is_active)
        if self._queue is None:
            loads = (_Load(each, self.counts[each]) for each in hash_map_order(self.counts))
            self._queue = JavaQueue(loads, lambda load: load.count)
        least = self._queue.take()
        least.count = self._add(least.member_id, task, is_active=is_active)
        self._queue.add(least)
        return least.count

    def _add(self, member_id: str, task: TaskId, *, is_active: bool) -> int:
        self._number += 1
        self.tasks.add(task)
        held = self.active if is_active else self.standby
        held.setdefault(member_id, set()).add(task)
        self.counts[member_id] += 1
        return self.counts[member_id]


class Member(NamedTuple):
    process: Process
    member_id: str

    @property
    def number(self) -> int:
        return self.process.counts[self.member_id]


class MemberSpec(NamedTuple):
    """A member as the assignor sees it; `target` is its target assignment until now."""

    process_id: str
    target: Target = NOTHING


class Work(NamedTuple):
    """A subtopology: how many tasks it has, and whether they have state."""

    tasks: int
    is_stateful: bool


def assign(
    specs: Mapping[str, MemberSpec], work: Mapping[str, Work], standbys: int
) -> dict[str, Target]:
    """The new target of every member. `specs`: members by id, in the order of a Java HashMap, at
    least one; `work`: the subtopologies by id; `standbys`: how many each task with state has."""
    return _Assignment(specs, work, standbys).made()


class _Assignment:
    def __init__(
        self, specs: Mapping[str, MemberSpec], work: Mapping[str, Work], standbys: int
    ) -> None:
        self._specs = specs
        self._work = work
        self._standbys = standbys
        active = sum(each.tasks for each in work.values())
        stateful = sum(each.tasks for each in work.values() if each.is_stateful)
        self._active_share = Share(active, len(specs))
        self._share = Share(active + stateful * standbys, len(specs))
        ids = hash_map_order(
            (spec.process_id for spec in specs.values()), room=_power_of_two(len(specs))
        )
        self._processes = {process_id: Process() for process_id in ids}
        self._had_active: dict[TaskId, Member] = {}
        self._had_standby: dict[TaskId, list[Member]] = {}
        for member_id, spec in specs.items():
            process = self._processes[spec.process_id]
            process.add_member(member_id)
            member = Member(process, member_id)
            self._had_active |= dict.fromkeys(_ids(spec.target.active), member)
            for task in _ids(spec.target.standby):
                self._had_standby.setdefault(task, []).append(member)

    def made(self) -> dict[str, Target]:
        self._assign_active()
        if self._standbys:
            self._assign_standbys()
        active: dict[str, set[TaskId]] = {}
        standby: dict[str, set[TaskId]] = {}
        for process in self._processes.values():
            active |= process.active
            standby |= process.standby
        return {
            each: Target(_tasks(active.get(each, ())), _tasks(standby.get(each, ())))
            for each in self._specs
        }

    def _all(self, *, stateful: bool) -> list[TaskId]:
        return [
            TaskId(name, number)
            for name, each in self._work.items()
            if each.is_stateful or not stateful
            for number in range(each.tasks)
        ]

    # Active tasks

    def _assign_active(self) -> None:
        tasks = sorted(self._all(stateful=False), key=_by_partition)
        tasks = [each for each in tasks if not self._stays(each)]
        tasks = [each for each in tasks if not self._follows_standby(each)]
        queue = self._by_load()
        for task in sorted(tasks):
            process = queue.take()
            count = process.add_to_least_loaded(task, is_active=True)
            self._active_share.given(count)
            self._share.given(count)
            queue.add(process)

    def _stays(self, task: TaskId) -> bool:
        member = self._had_active.get(task)
        return member is not None and self._give_active(member, task)

    def _follows_standby(self, task: TaskId) -> bool:
        members = self._had_standby.get(task)
        member = None if members is None else _least_loaded(members, None)
        return member is not None and self._give_active(member, task)

    def _give_active(self, member: Member, task: TaskId) -> bool:
        if member.number >= self._active_share.each:
            return False
        count = member.process.add(member.member_id, task, is_active=True)
        self._active_share.given(count)
        self._share.given(count)
        return True

    # Standbys

    def _assign_standbys(self) -> None:
        wanting: list[tuple[TaskId, int]] = []
        for task in sorted(self._all(stateful=True), key=_by_partition, reverse=True):
            given = 0
            while given < self._standbys and self._has_again(task):
                given += 1
            if given < self._standbys:
                wanting.append((task, self._standbys - given))
        queue = self._by_load()
        for task, count in sorted(wanting, reverse=True):
            for _ in range(count):
                if not self._give_standby(queue, task):
                    break

    def _has_again(self, task: TaskId) -> bool:
        """Whether a member that had the task, active or as a standby, got it as a standby."""
        member = self._had_active.get(task)
        if member is not None and self._give_standby_to(member, task):
            return True
        members = self._had_standby.get(task)
        member = None if members is None else _least_loaded(members, task)
        return member is not None and self._give_standby_to(member, task, is_checked=True)

    def _give_standby_to(self, member: Member, task: TaskId, *, is_checked: bool = False) -> bool:
        if not is_checked and task in member.process.tasks:
            return False
        if member.number >= self._share.each:
            return False
        self._share.given(member.process.add(member.member_id, task, is_active=False))
        return True

    def _give_standby(self, queue: JavaQueue[Process], task: TaskId) -> bool:
        """Give it to the least loaded process that does not have it; the others go back into the
        queue after that, the last one first."""
        passed: list[Process] = []
        found = False
        while len(queue) and not found:
            passed.append(queue.take())
            if task not in passed[-1].tasks:
                count = passed[-1].add_to_least_loaded(task, is_active=False)
                self._share.given(count)
                found = True
        for process in reversed(passed):
            queue.add(process)
        return found

    def _by_load(self) -> JavaQueue[Process]:
        return JavaQueue(self._processes.values(), lambda process: process.load)


def _least_loaded(members: list[Member], task: TaskId | None) -> Member | None:
    """Of members that had a task, one in a process that is loaded less than the first's and is
    loaded less itself; None if the first's process has the task."""
    found = first = members[0]
    load, number = first.process.load, first.number
    for member in members[1:]:
        process = member.process
        is_free = task is None or task not in process.tasks
        if process.load < load and is_free and member.number < number:
            found, load, number = member, process.load, member.number
    return found if task is None or task not in first.process.tasks else None


def _ids(tasks: Tasks) -> Iterable[TaskId]:
    return (TaskId(name, number) for name, numbers in tasks.items() for number in numbers)


def _tasks(ids: Iterable[TaskId]) -> Tasks:
    found: dict[str, set[int]] = {}
    for name, number in ids:
        found.setdefault(name, set()).add(number)
    return {name: frozenset(numbers) for name, numbers in found.items()}


def _by_partition(task: TaskId) -> tuple[int, str]:
    return task.partition, task.subtopology


def _power_of_two(size: int) -> int:
    return 1 << max(size - 1, 0).bit_length()
