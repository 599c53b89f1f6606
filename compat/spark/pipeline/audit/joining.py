"""The audit of a directory: its tasks run by an engine, their summaries joined as they come.

Summaries come in any order and are joined in that of the offsets; one that came early waits, and
is dropped once it is joined.

What an audit of a directory consists of: a task for each segment, in the order of a partition.

PLACE is a data directory, a topic in it (PATH/TOPIC), a partition (PATH/TOPIC-0) or one `.log`
file. Only of a whole data directory is checked what stands beside its partitions.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from .....storage.disk.directory import Directory
from .....storage.naming import CLUSTER_METADATA, DELETED, NAMINGS, Naming, renamed_suffix
from .batches import Policies, SegmentSummary, SegmentTask
from .directory_check import DirectoryFacts, TopicPartition, check_directory, read_directory
from .findings import Finding, Findings, in_order
from .partition_check import PartitionFold, PartitionSummary
from .records_check import RecordsSummary, skew
from .segment_check import check_segment


@dataclass
class AuditPlan:
    """The tasks, by partition."""

    facts: DirectoryFacts
    is_whole: bool
    """Whether the whole data directory is audited."""
    is_part: bool = False
    """Whether it is one segment."""
    tasks: dict[TopicPartition, list[SegmentTask]] = field(default_factory=dict)
    findings: Findings = field(default_factory=lambda: Findings(""))
    """Findings about the directory itself."""


def plan_audit(path: str, jump_ms: int) -> AuditPlan | None:
    """The plan for a place on disk; None if it is no data directory, nor part of one.

    Raises OSError.
    """
    found = _located(os.path.abspath(path))
    if found is None:
        return None
    root, topic, partition, only = found
    findings = Findings("")
    facts = read_directory(root, findings)
    plan = AuditPlan(facts, topic is None, only is not None, findings=findings)
    for name in sorted(Directory(root).directories()):
        key = None if renamed_suffix(name) else facts.naming.parse_directory(name)
        if key is None or topic not in (None, key[0]) or partition not in (None, key[1]):
            continue
        tasks = _segments(facts, key, jump_ms)
        plan.tasks[key] = [one for one in tasks if only in (None, one.base_offset)]
    return plan if plan.tasks or facts.is_whole else None


def _located(path: str) -> tuple[str, str | None, int | None, int | None] | None:
    """Data directory, and the topic, partition and base offset that the path narrows it to."""
    parent, name = os.path.split(path)
    for naming in NAMINGS.values():
        if os.path.isfile(path):
            file, key = naming.parse_file(name), naming.parse_directory(os.path.basename(parent))
            if file and key and file[1] == naming.log_suffix:
                return os.path.dirname(parent), key[0], key[1], file[0]
            continue
        key = naming.parse_directory(name)
        if key and os.path.isdir(path) and _has_logs(path, naming):
            return parent, key[0], key[1], None
    if os.path.isdir(path):
        return path, None, None, None
    has_topic = os.path.isdir(parent) and any(
        (key := naming.parse_directory(each)) and key[0] == name
        for naming in NAMINGS.values()
        for each in Directory(parent).directories()
    )
    return (parent, name, None, None) if has_topic else None


def _has_logs(path: str, naming: Naming) -> bool:
    parsed = map(naming.parse_file, os.listdir(path))
    return any(found is not None and found[1] == naming.log_suffix for found in parsed)


def _segments(facts: DirectoryFacts, key: TopicPartition, jump_ms: int) -> list[SegmentTask]:
    naming = facts.naming
    names = Directory(facts.path).child(naming.directory(*key)).files()
    bases = sorted(
        found[0]
        for name in names
        if (found := naming.parse_file(name)) and found[1] == naming.log_suffix
    )
    cleaned = facts.cleaned_to(key)
    return [
        SegmentTask(
            *(facts.path, *key, base, limit),
            was_killed=facts.was_killed or key[0] == CLUSTER_METADATA,
            is_in_use=facts.is_in_use,
            is_compacted=base < cleaned or naming.log(base) + DELETED in names,
            log_start=facts.of(key).log_start or 0,
            jump_ms=jump_ms,
            size=names[naming.log(base)],
        )
        for base, limit in zip(bases, [*bases[1:], None], strict=False)
    ]


Run = Callable[[Callable[[Any], Any], Sequence[Any], int | None], Iterator[tuple[int, Any]]]
FINDINGS_KEPT = 10_000
OF_A_KIND = 1_000
"""How many findings are kept of a whole audit, and how many of them that differ in numbers only;
more are counted only."""


@dataclass
class Audit:
    place: str
    findings: list[Finding] = field(default_factory=list)
    partitions: list[PartitionSummary] = field(default_factory=list)
    damages: int = 0
    remarks: int = 0
    is_in_use: bool = False
    """Whether a broker had the directory open."""
    _kinds: dict[tuple[bool, str], int] = field(default_factory=dict)

    def add(self, found: Findings) -> None:
        self.damages += found.damages
        self.remarks += found.remarks
        for each in found.found:
            self._kinds[each.kind] = number = self._kinds.get(each.kind, 0) + 1
            if number <= OF_A_KIND and len(self.findings) < FINDINGS_KEPT:
                self.findings.append(each)


def audit_directory(
    plan: AuditPlan, run: Run, advance: Callable[[int], None] = lambda by: None
) -> Audit:
    """Audit what was planned. `advance` is called with the number of bytes done. Raises OSError."""
    audit = Audit(plan.facts.path, is_in_use=plan.facts.is_in_use)
    if plan.is_whole and plan.facts.is_whole:
        check_directory(plan.facts, plan.findings)
    audit.add(plan.findings)
    tasks = [task for of_one in plan.tasks.values() for task in of_one]
    size = sum(task.size for task in tasks)
    join = _Join(plan, audit)
    for number, summary in run(check_segment, tasks, size):
        join.take(number, tasks[number], summary)
        advance(tasks[number].size)
    join.finish()
    return audit


class _Join:
    def __init__(self, plan: AuditPlan, audit: Audit) -> None:
        self._plan, self._audit = plan, audit
        self._policies = Policies(plan.facts.path, plan.facts.naming)
        self._waiting: dict[int, SegmentSummary] = {}
        self._next: dict[TopicPartition, int] = {}
        self._after: dict[TopicPartition, int] = {}
        self._folds: dict[TopicPartition, PartitionFold] = {}
        self._removed: set[TopicPartition] = set()
        """Files that a broker removed meanwhile."""
        self._topics: dict[str, RecordsSummary] = {}
        self._contents: dict[str, dict[int, RecordsSummary]] = {}
        number = 0
        for key, tasks in plan.tasks.items():
            self._next[key], number = number, number + len(tasks)
            self._after[key] = number

    def take(self, number: int, task: SegmentTask, summary: SegmentSummary) -> None:
        key = task.topic, task.partition
        self._waiting[number] = summary
        while (ready := self._waiting.pop(self._next[key], None)) is not None:
            self._next[key] += 1
            self._add(key, ready)
            self._topics.setdefault(key[0], RecordsSummary()).join(ready.content)
            of_topic = self._contents.setdefault(key[0], {})
            of_topic.setdefault(key[1], RecordsSummary()).join(ready.content.without_keys())
        if self._next[key] == self._after[key]:
            self._end(key)

    def finish(self) -> None:
        """All tasks are done: partitions without a segment, and topics."""
        for key, tasks in self._plan.tasks.items():
            if not tasks:
                self._end(key)
        self._audit.partitions.sort(key=lambda each: (each.topic, each.partition))
        self._audit.findings.sort(key=in_order)
        for topic, partitions in sorted(self._contents.items()):
            found = Findings(topic)
            for finding in skew(topic, self._topics[topic], partitions):
                found.add(finding)
            self._audit.add(found)

    def _fold(self, key: TopicPartition) -> PartitionFold:
        fold = self._folds.get(key)
        if fold is None:
            facts, root = self._plan.facts, Directory(self._plan.facts.path)
            fold = PartitionFold(root, *key, facts.naming, facts.of(key), self._policies)
            fold.is_part = self._plan.is_part
            self._folds[key] = fold
        return fold

    def _add(self, key: TopicPartition, segment: SegmentSummary) -> None:
        try:
            self._fold(key).add(segment)
        except FileNotFoundError:
            if not self._plan.facts.is_in_use:
                raise
            self._removed.add(key)

    def _end(self, key: TopicPartition) -> None:
        try:
            summary = self._fold(key).finish()
        except FileNotFoundError:
            if not self._plan.facts.is_in_use:
                raise
            self._removed.add(key)
        self._folds.pop(key, None)
        if key in self._removed:
            found = Findings(self._plan.facts.naming.directory(*key))
            found.remark("removed by its broker during the audit")
            self._audit.add(found)
            return
        summary.findings.found.sort(key=in_order)
        self._audit.partitions.append(summary)
        self._audit.add(summary.findings)
