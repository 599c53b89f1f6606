"""A batch: planned by the driver from names of files, headers of batches and time indexes alone.

Filters that Spark pushes down, as ranges of partitions, offsets and times.

Only comparisons of `topic`, `partition`, `offset` and `timestamp` with constants say anything here;
the others are Spark's. They are read by their class names, so that Spark 4.0, which has none, is
not asked for them. Those that a reader keeps in full are not handed back to Spark, which names them
in `explain("formatted")` then.

What a query reads, as `planReport` has it. Of a Python source Spark's own explain() shows the
columns, and from 4.1 on, as "formatted", the filters that were pushed down.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition

from ..segments.kept import KeptOffsets, data_directory_of
from ..segments.wanted import Wanted
from .columns import plain
from .layout import Layout, Now
from .offsets import ending, latest_noted, starting
from .options import ReadOptions
from .pieces import Piece, pieces

_MOST = (1 << 63) - 1
_EQUAL = ("EqualTo", "EqualNullSafe")
_NAMED = (*_EQUAL, "In")
_COMPARED = (*_EQUAL, "GreaterThan", "GreaterThanOrEqual", "LessThan", "LessThanOrEqual")


@dataclass
class FilteredRange:
    """The range that the filters leave; ends are exclusive."""

    topics: frozenset[str] | None = None
    partitions: frozenset[int] | None = None
    start_offset: int = 0
    end_offset: int = _MOST
    start_ms: int | None = None
    end_ms: int | None = None

    def of(self, piece: Piece) -> Piece | None:
        """The rest of a piece, None if nothing is left."""
        segment = piece.segment
        if self.topics is not None and segment.topic not in self.topics:
            return None
        if self.partitions is not None and segment.partition not in self.partitions:
            return None
        if self.start_ms is not None and latest_noted(segment) < self.start_ms:
            return None
        start, end = max(piece.start, self.start_offset), min(piece.end, self.end_offset)
        if start >= end:
            return None
        inner = replace(piece.wanted, start_offset=start, end_offset=end)
        return replace(piece, wanted=inner)


def is_kept(each: Any) -> bool:
    """Whether a filter is kept to in full: Spark need not evaluate it again."""
    kind, attribute = type(each).__name__, getattr(each, "attribute", ())
    if attribute in (("topic",), ("partition",)):
        return kind in _NAMED
    is_number = isinstance(getattr(each, "value", None), int)
    return attribute == ("offset",) and is_number and kind in _COMPARED


def says_anything(each: Any) -> bool:
    return is_kept(each) or narrowed([each]) != FilteredRange()


def shown(each: Any) -> str:
    return f"{type(each).__name__}({'.'.join(each.attribute)},{each.value})"


def narrowed(filters: Iterable[Any]) -> FilteredRange:
    left = FilteredRange()
    for each in filters:
        kind = type(each).__name__
        attribute = getattr(each, "attribute", ())
        value = getattr(each, "value", None)
        if attribute in (("topic",), ("partition",)):
            _name(left, attribute[0], kind, value)
        elif attribute == ("offset",) and isinstance(value, int):
            _offset(left, kind, value)
        elif attribute == ("timestamp",) and isinstance(value, datetime) and value.tzinfo:
            _time(left, kind, value)
    return left


def _name(left: FilteredRange, column: str, kind: str, value: Any) -> None:
    if kind not in _NAMED:
        return
    values = frozenset(value if kind == "In" else [value])
    if column == "topic":
        left.topics = values if left.topics is None else left.topics & values
    else:
        left.partitions = values if left.partitions is None else left.partitions & values


def _offset(left: FilteredRange, kind: str, value: int) -> None:
    if kind in (*_EQUAL, "GreaterThanOrEqual"):
        left.start_offset = max(left.start_offset, value)
    if kind in (*_EQUAL, "LessThanOrEqual"):
        left.end_offset = min(left.end_offset, value + 1)
    if kind == "GreaterThan":
        left.start_offset = max(left.start_offset, value + 1)
    if kind == "LessThan":
        left.end_offset = min(left.end_offset, value)


def _time(left: FilteredRange, kind: str, value: datetime) -> None:
    """Whole milliseconds that hold the range: records have no finer times."""
    since = value - datetime(1970, 1, 1, tzinfo=UTC)
    ms = (since.days * 86_400 + since.seconds) * 1000 + since.microseconds // 1000
    if kind in (*_EQUAL, "GreaterThanOrEqual", "GreaterThan"):
        left.start_ms = ms if left.start_ms is None else max(left.start_ms, ms)
    if kind in (*_EQUAL, "LessThanOrEqual", "LessThan"):
        left.end_ms = ms + 1 if left.end_ms is None else min(left.end_ms, ms + 1)


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
    """The task of one piece: ends are exclusive."""
    segment, wanted = piece.segment, piece.wanted
    task: dict[str, object] = {"topic": segment.topic, "partition": segment.partition}
    task |= {"segment": segment.path, "startingOffset": piece.start, "endingOffset": piece.end}
    times = {"startingTimestamp": wanted.start_ms, "endingTimestamp": wanted.end_ms}
    return task | {name: value for name, value in times.items() if value is not None}


class PieceOfInput(InputPartition):  # type: ignore[misc]
    def __init__(self, piece: Piece) -> None:
        super().__init__(piece)


def wanted_by(options: ReadOptions) -> Wanted:
    """The request to the decoder, without ranges."""
    return Wanted(columns=options.columns, isolation=options.isolation)


def read_piece(
    partition: InputPartition | None, columns: tuple[str, ...]
) -> Iterator[pa.RecordBatch]:
    """The records of one task's piece. Spark asks for None where there is nothing to read."""
    if partition is None or partition.value is None:
        return iter(())
    return plain(partition.value.read(), columns)


class BatchReader(DataSourceReader):  # type: ignore[misc]
    """Reads a data directory once, one segment a task."""

    _narrowing = FilteredRange()
    _filters: tuple[str, ...] = ()
    """Those that narrow what is read."""

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self._wanted = wanted_by(options)

    def partitions(self) -> list[InputPartition]:
        now = Layout(self._options).now()
        starts, ends = starting(now, self._options), ending(now, self._options)
        kept = KeptOffsets(data_directory_of(self._options.path))
        every = pieces(now, starts, ends, self._wanted, self._options, kept)
        found = [left for each in every if (left := self._narrowing.of(each)) is not None]
        if self._options.plan_report is not None:
            write_plan(self._options.plan_report, self._options, now, found, self._filters)
        return [PieceOfInput(piece) for piece in found]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read one task's records."""
        return read_piece(partition, self._options.columns)


class FilteringReader(BatchReader):
    """A reader that is handed a query's filters, where Spark pushes them down (4.1 on).

    They narrow what is planned and decoded. Those that leave a segment more than was asked for are
    handed back, so that Spark evaluates them too.
    """

    def pushFilters(self, filters: list[Any]) -> list[Any]:
        self._narrowing = narrowed(filters)
        self._wanted = replace(
            self._wanted,
            start_ms=self._narrowing.start_ms,
            end_ms=self._narrowing.end_ms,
        )
        self._filters = tuple(shown(each) for each in filters if says_anything(each))
        return [each for each in filters if not is_kept(each)]
