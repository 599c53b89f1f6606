"""A batch: planned by the driver from names of files, headers of batches and time indexes alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition

from ..segments.kept import KeptOffsets, data_directory_of
from ..segments.wanted import Wanted
from .columns import plain
from .filters import Narrowing, is_kept, narrowed, says_anything, shown
from .layout import Layout
from .offsets import ending, starting
from .options import ReadOptions
from .pieces import Piece, pieces
from .plan import write_plan


class PieceOfInput(InputPartition):  # type: ignore[misc]
    """What one task reads."""

    def __init__(self, piece: Piece) -> None:
        super().__init__(piece)


def wanted_by(options: ReadOptions) -> Wanted:
    """What the decoder is asked for, without ranges."""
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

    _narrowing = Narrowing()
    _filters: tuple[str, ...] = ()
    """Those that narrow what is read."""

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self._wanted = wanted_by(options)

    def partitions(self) -> list[InputPartition]:
        """Plan the tasks."""
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
    """A reader that is told of a query's filters, where Spark pushes them down (4.1 on).

    They narrow what is planned and decoded. Those that leave a segment more than was asked for are
    handed back, so that Spark evaluates them too.
    """

    def pushFilters(self, filters: list[Any]) -> list[Any]:
        """Take note of what can be skipped."""
        self._narrowing = narrowed(filters)
        self._wanted = replace(
            self._wanted,
            start_ms=self._narrowing.start_ms,
            end_ms=self._narrowing.end_ms,
        )
        self._filters = tuple(shown(each) for each in filters if says_anything(each))
        return [each for each in filters if not is_kept(each)]
