"""The command `odradek audit`: its arguments, and how it shows findings."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from .....storage.checkpoints import META_PROPERTIES
from ..command import Outcome
from ..engine import choose, in_bytes
from ..errors import PipelineError
from ..places import broker_place
from ..progress import progress
from .findings import Finding, shared
from .joining import Audit, Run, audit_directory, plan_audit
from .topic_check import audit_topics, plan_topics

_IN_USE = (
    "is in use by a broker: a batch that is cut short at the end of a log may be one that is being "
    "written, and is only remarked on"
)


def audited(options: argparse.Namespace) -> Outcome:
    """Audit a place. Raises PipelineError, BrokerError, OSError."""
    work, size = _work(options.place, int(options.jump * 60_000), options.cluster_id)
    engine = choose(options, size)
    try:
        with progress(options.quiet) as bar:
            bar.begin("audit", size)
            audit = work(engine.run, bar.advance)
    finally:
        engine.close()
    found = audit.damages + (audit.remarks if options.strict else 0)
    return Outcome(_result(audit), lines(audit, options.limit), int(found > 0))


def _work(
    place: str, jump_ms: int, cluster_id: str | None
) -> tuple[Callable[[Run, Callable[[int], None]], Audit], int]:
    """The plan, and about how many bytes are read."""
    topics = broker_place(place)
    if topics is not None:
        tasks = plan_topics(topics, jump_ms)
        return partial(audit_topics, place, tasks), sum(task.size for task in tasks)
    plan = plan_audit(place, jump_ms)
    if plan is None:
        raise PipelineError(_why_not(place))
    plan.facts.cluster_id = cluster_id
    size = sum(task.size for of_one in plan.tasks.values() for task in of_one)
    return partial(audit_directory, plan), size


def _why_not(place: str) -> str:
    if os.path.isfile(place):
        return f"{place} is no segment: audit takes a data directory, or a part of one"
    if os.path.isdir(place):
        return f"{place} is no data directory: there is no {META_PROPERTIES} and no partition in it"
    parent, name = os.path.split(os.path.abspath(place))
    if os.path.isdir(parent) and plan_audit(parent, 0) is not None:
        return f"{parent} has no topic {name}"
    return f"{place}: no such file or directory"


def _result(audit: Audit) -> dict[str, Any]:
    names = "topic", "partition", "segments", "batches", "records", "size"
    more = "first_offset", "next_offset", "open_transactions"
    return {
        "place": audit.place,
        "in_use": audit.is_in_use,
        "damages": audit.damages,
        "remarks": audit.remarks,
        "findings": [
            {**each._asdict(), "kind": "damage" if each.is_damage else "remark"}
            for each in audit.findings
        ],
        "partitions": [
            {name: getattr(each, name) for name in (*names, *more)} for each in audit.partitions
        ],
    }


def lines(audit: Audit, limit: int) -> list[str]:
    """The audit for people: whether the place is in use, then damage first."""
    first = [f"{audit.place} {_IN_USE}"] if audit.is_in_use else []
    some, more = shared(audit.findings, limit)
    rows = [_row(each) for each in some]
    found = _table(("", "PARTITION", "FILE", "BYTE", "OFFSETS", "WHAT"), rows) if rows else []
    left = audit.damages + audit.remarks - len(rows)
    if len(more) > 1:
        found += [f"... and {count} more like: {what}" for what, count in more.items()]
    if left and (len(more) < 2 or left > sum(more.values())):
        found.append(f"... and {left} more" + " in all" * (len(more) > 1))
    parts = audit.partitions
    counts = [
        counted(len({each.topic for each in parts}), "topic"),
        counted(len(parts), "partition"),
        counted(sum(each.segments for each in parts), "segment"),
        counted(sum(each.batches for each in parts), "batch", "batches"),
        counted(sum(each.records for each in parts), "record"),
        in_bytes(sum(each.size for each in parts)),
    ]
    damage = "clean" if not audit.damages else counted(audit.damages, "damage")
    remarks = f", {counted(audit.remarks, 'remark')}" if audit.remarks else ""
    return [*first, *found, f"{audit.place}: {', '.join(counts)}: {damage}{remarks}"]


def _row(finding: Finding) -> tuple[str, ...]:
    return (
        "damage" if finding.is_damage else "remark",
        finding.partition or "-",
        finding.file or "-",
        "-" if finding.byte is None else str(finding.byte),
        finding.offsets or "-",
        finding.what,
    )


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[at]) for row in (header, *rows)) for at in range(len(header))]
    return [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in (header, *rows)
    ]


def counted(number: int, one: str, many: str | None = None) -> str:
    """`3 topics`, with thousands set apart."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
