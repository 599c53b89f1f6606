"""Streams: what is replayed one record after the other. Several of them keep each other's pace.

A partition is a stream. So is each partition's part of a file, since an export has one partition
after the other in it. A record is due at its time, or with the record before it, if that is later:
their order stays. One without a time is due at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ...segments.wanted import Wanted
from ..broker import Place
from ..files import FileSplit
from ..splits import SegmentSplit, Split
from ..topics import TopicSplit

COLUMNS = ("key", "value", "topic", "partition", "offset", "timestamp", "headers")
_NEVER = -(1 << 62)


@dataclass(frozen=True)
class Plan:
    """A stream's splits; only the records of `place` in them, if there are others."""

    splits: tuple[Split, ...]
    place: Place | None = None


@dataclass(frozen=True)
class Position:
    """Where a stream goes on: the number of the split, and how many of its records are done, or
    the offset to go on at."""

    split: int = 0
    rows: int = 0
    offset: int | None = None


def plans_of(splits: Sequence[Split], wanted: Wanted) -> list[Plan]:
    found: dict[Place, list[Split]] = {}
    for split in splits:
        for place in places_in(split, wanted):
            found.setdefault(place, []).append(split)
    return [
        Plan(tuple(each), place if isinstance(each[0], FileSplit) else None)
        for place, each in sorted(found.items())
    ]


def places_in(split: Split, wanted: Wanted) -> list[Place]:
    """The partitions of which a split has records."""
    if isinstance(split, TopicSplit):
        return [(split.topic, split.partition)]
    if isinstance(split, SegmentSplit):
        return [(split.segment.topic, split.segment.partition)]
    found: set[Place] = set()
    for batch in split.read(replace(wanted, columns=("topic", "partition"))):
        pairs = pa.Table.from_batches([batch]).group_by(["topic", "partition"]).aggregate([])
        found |= set(zip(*(pairs[name].to_pylist() for name in pairs.column_names), strict=True))
    return sorted(found)


class Stream:
    """Records in order, and when each is due."""

    def __init__(self, plan: Plan, wanted: Wanted, position: Position) -> None:
        self.plan = plan
        self.position = position
        self._wanted = replace(wanted, columns=COLUMNS)
        self._batches = self._read(position)
        self._batch: pa.RecordBatch | None = None
        self._due: npt.NDArray[np.int64] = np.empty(0, np.int64)
        self._split = position.split
        self._latest = _NEVER
        self._at = 0
        self.last_ms = _NEVER
        """When the last record that was taken was due."""

    @property
    def place(self) -> Place:
        return self.plan.place or places_in(self.plan.splits[0], self._wanted)[0]

    @property
    def name(self) -> str:
        return f"{self.place[0]}-{self.place[1]}"

    def due_ms(self) -> int | None:
        """When the next record is due; None at the end."""
        return int(self._due[self._at]) if self._fill() else None

    def take(self, until_ms: float, rows: int, size: int) -> pa.RecordBatch | None:
        """Records that are due at this time: at most so many, and about so many bytes; at least
        one. None if none is due. Moves the position."""
        batch = self._batch if self._fill() else None
        if batch is None:
            return None
        end = int(np.searchsorted(self._due, until_ms, side="right"))
        count = min(end - self._at, rows)
        if count <= 0:
            return None
        while count > 1 and batch.slice(self._at, count).nbytes > size:
            count //= 2
        return self._taken(batch, count)

    def take_rows(self, rows: int) -> pa.RecordBatch:
        """So many records, which `take` gave from this position in an earlier run."""
        taken = []
        while rows and self._fill() and self._batch is not None:
            count = min(rows, self._batch.num_rows - self._at)
            taken.append(self._taken(self._batch, count))
            rows -= count
        return pa.Table.from_batches(taken).combine_chunks().to_batches()[0]

    def _taken(self, batch: pa.RecordBatch, count: int) -> pa.RecordBatch:
        found = batch.slice(self._at, count)
        self._at += count
        self.last_ms = int(self._due[self._at - 1])
        offset = found["offset"][count - 1].as_py()
        has_offsets = not isinstance(self.plan.splits[0], FileSplit)
        rows = self.position.rows if self.position.split == self._split else 0
        self.position = Position(self._split, rows + count, offset + 1 if has_offsets else None)
        return found

    def _fill(self) -> bool:
        """Have records; False at the end."""
        while self._batch is None or self._at >= self._batch.num_rows:
            found = next(self._batches, None)
            if found is None:
                return False
            self._split, self._batch = found
            self._at = 0
            times = self._batch["timestamp"].cast(pa.timestamp("ms", "UTC"), safe=False)
            due = pc.fill_null(times.cast(pa.int64()), _NEVER).to_numpy(zero_copy_only=False)
            self._due = np.maximum(np.maximum.accumulate(due), self._latest)
            self._latest = int(self._due[-1]) if len(self._due) else self._latest
        return True

    def _read(self, position: Position) -> Iterator[tuple[int, pa.RecordBatch]]:
        for number in range(position.split, len(self.plan.splits)):
            split, skip = self.plan.splits[number], 0
            if number == position.split:
                if isinstance(split, TopicSplit | SegmentSplit) and position.offset is not None:
                    split = replace(split, start=position.offset)
                else:
                    skip = position.rows
            for batch in split.read(self._wanted):
                batch = self._of_place(batch)
                if skip >= batch.num_rows:
                    skip -= batch.num_rows
                else:
                    yield number, batch.slice(skip)
                    skip = 0

    def _of_place(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if self.plan.place is None:
            return batch
        topic, partition = self.plan.place
        is_it = pc.and_(pc.equal(batch["topic"], topic), pc.equal(batch["partition"], partition))
        return batch.filter(is_it)
