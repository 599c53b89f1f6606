"""The processes of an application while its tasks are assigned: who has which, and how many.

A process is loaded by its tasks per member.
"""

from __future__ import annotations

from typing import NamedTuple

from ...base.java_order import hash_map_order
from ...base.java_queue import JavaQueue
from .tasks import TaskId


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
    """One process."""

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
        """One more member, without tasks."""
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
    """A member that had a task before."""

    process: Process
    member_id: str

    @property
    def number(self) -> int:
        """How many tasks it has by now."""
        return self.process.counts[self.member_id]
