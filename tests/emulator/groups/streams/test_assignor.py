"""The assignor `sticky`, against what Kafka 4.3.1's own assigned.

Each line of sticky_assignments.jsonl is one group: steps, in each of which its members, its
subtopologies or standbys change, and the targets of its members after that: active tasks and
standbys.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from odradek.emulator.groups.streams.assignor import MemberSpec, Work, assign
from odradek.emulator.groups.streams.members import NOTHING, Target, Tasks

from tests.support.looped import for_each

RUNS = [
    json.loads(line)
    for line in Path(__file__).with_name("sticky_assignments.jsonl").read_text().splitlines()
]


def _tasks(text: str) -> Tasks:
    found: dict[str, set[int]] = {}
    for each in filter(None, text.split(";")):
        name, _, number = each.rpartition("_")
        found.setdefault(name, set()).add(int(number))
    return {name: frozenset(numbers) for name, numbers in found.items()}


@for_each("steps", RUNS, lambda steps: steps[-1])
def test_targets_are_those_of_a_real_assignor(steps: list[dict[str, Any]]) -> None:
    targets: dict[str, Target] = {}
    for step in steps:
        specs = {
            member: MemberSpec(process, targets.get(member, NOTHING))
            for member, process in step["members"].items()
        }
        work = {
            name: Work(tasks, bool(has_state))
            for name, (tasks, has_state) in sorted(step["subtopologies"].items())
        }
        targets = assign(specs, work, step["standbys"])
        wanted = {
            member: Target(_tasks(active), _tasks(standby))
            for member, (active, standby) in step["targets"].items()
        }
        assert targets == wanted
