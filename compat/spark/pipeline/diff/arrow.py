"""The comparison in processes of one machine: rows go through files, by bucket.

Each step is a task a split or a bucket: rows of both sides are written by identity; each bucket is
matched, and what is left over is written by content (by offset), matched wherever it is, and
written by identity again; at last it is paired. A task holds one bucket, of about `BUCKET_BYTES`
of the places; many records of the same key are in one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..splits import Split
from . import buckets
from .classify import Tally, match, moved, rest
from .hashed import Comparison, Rows, hashed

Run: TypeAlias = Callable[[Callable[[Any], Any], Sequence[Any], int], Iterator[tuple[int, Any]]]
Advance: TypeAlias = Callable[[int], None]

BUCKET_BYTES = 64 << 20
BUCKETS_MAX = 1_024
IDENTITY, CONTENT = ("i0", "i1"), ("c0", "c1")


@dataclass(frozen=True)
class _HashTask:
    split: Split
    side: int
    number: int
    comparison: Comparison
    directory: str
    buckets: int

    @property
    def name(self) -> str:
        return self.split.name


@dataclass(frozen=True)
class _BucketTask:
    step: str
    bucket: int
    buckets: int
    directory: str
    comparison: Comparison
    samples: int

    @property
    def name(self) -> str:
        return f"bucket {self.bucket}"


def compare(
    sides: tuple[Sequence[Split], Sequence[Split]],
    comparison: Comparison,
    directory: str,
    samples: int,
    run: Run,
    advance: Advance,
) -> Tally:
    """Compare the splits of both sides. Raises what reading them raises, and OSError."""
    size = sum(split.size for side in sides for split in side)
    count = min(max(1, -(-size // BUCKET_BYTES)), BUCKETS_MAX)
    tasks = [
        _HashTask(split, side, number, comparison, directory, count)
        for side, splits in enumerate(sides)
        for number, split in enumerate(splits)
    ]
    for number, _ in run(_hash, tasks, size):
        advance(tasks[number].split.size)
    tally = Tally(samples)
    steps = ("match", "moved", "rest") if comparison.by == "offset" else ("match", "rest")
    for step in steps:
        pieces = [
            _BucketTask(step, bucket, count, directory, comparison, samples)
            for bucket in range(count)
        ]
        for _, found in run(_look, pieces, size):
            tally.join(found)
    return tally


def _hash(task: _HashTask) -> int:
    path = os.path.join(task.directory, f"match-{task.side}-{task.number}.rows")
    found = hashed(task.split, task.side, task.number, task.comparison)
    return buckets.write(path, found, IDENTITY, task.buckets)


def _look(task: _BucketTask) -> Tally:
    tally = Tally(task.samples)
    rows = buckets.read(task.directory, task.step, task.bucket)
    if task.step == "rest":
        rest(rows, tally)
    elif task.step == "moved":
        _write(task, "rest", [moved(rows, tally)], IDENTITY)
    else:
        left = match(rows, tally, ordered=task.comparison.is_ordered)
        if task.comparison.by == "offset":
            _write(task, "moved", [left], CONTENT)
        else:
            _write(task, "rest", [left], IDENTITY)
    return tally


def _write(task: _BucketTask, step: str, found: Iterable[Rows], names: tuple[str, str]) -> None:
    path = os.path.join(task.directory, f"{step}-{task.bucket}.rows")
    buckets.write(path, found, names, task.buckets)
