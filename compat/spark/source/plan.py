"""What a query reads, as `planReport` has it. Of a Python source Spark's own explain() shows the
columns, and from 4.1 on, as "formatted", the filters that were pushed down."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from .layout import Now
from .options import ReadOptions
from .pieces import Piece


def write_plan(
    path: str, options: ReadOptions, now: Now, found: Sequence[Piece], filters: Sequence[str]
) -> None:
    """Write it as JSON, in the place of that of an earlier query. Raises OSError."""
    there = {each.path: each.size for partition in now.values() for each in partition.segments}
    read = {each.segment.path: each.segment.size for each in found}
    plan = {
        "columns": list(options.columns),
        "filters": list(filters),
        "partitions": len(now),
        "partitionsRead": len({(each.segment.topic, each.segment.partition) for each in found}),
        "segments": len(there),
        "segmentsRead": len(read),
        "bytes": sum(there.values()),
        "bytesRead": sum(read.values()),
        "tasks": [_task(each) for each in found],
    }
    partial = f"{path}.partial"
    with open(partial, "w") as file:
        json.dump(plan, file, indent=1)
    os.replace(partial, path)


def _task(piece: Piece) -> dict[str, object]:
    """What one task reads: ends are exclusive."""
    segment, wanted = piece.segment, piece.wanted
    task: dict[str, object] = {"topic": segment.topic, "partition": segment.partition}
    task |= {"segment": segment.path, "startingOffset": piece.start, "endingOffset": piece.end}
    times = {"startingTimestamp": wanted.start_ms, "endingTimestamp": wanted.end_ms}
    return task | {name: value for name, value in times.items() if value is not None}
