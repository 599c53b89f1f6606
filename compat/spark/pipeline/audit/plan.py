"""What an audit of a directory consists of: a task for each segment, in the order of a partition.

PLACE is a data directory, a topic in it (PATH/TOPIC), a partition (PATH/TOPIC-0) or one `.log`
file. Only of a whole data directory is checked what stands beside its partitions.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from .....storage.disk.directory import Directory
from .....storage.naming import CLUSTER_METADATA, DELETED, NAMINGS, Naming, renamed_suffix
from .batches import SegmentTask
from .directory_check import DirectoryFacts, TopicPartition, read_directory
from .findings import Findings


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
    """What the directory itself says."""


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
