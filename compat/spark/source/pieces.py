"""Pieces: what one task reads, a range of offsets of one segment.

A piece can be sent to another process: it carries what the task needs to know of transactions, so
that the task opens its own segment and no other. Where the segment's file has gone meanwhile,
because it was compacted or merged, the piece's range is looked up again in what is there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil

import pyarrow as pa

from ..segments.batch_rows import read_batches
from ..segments.damaged import Damaged
from ..segments.decoder import OnDamage, read_segment
from ..segments.kept import (
    KeptOffsets,
    RequiredOffsets,
    data_directory_of,
    lost_partitions,
    past_end,
)
from ..segments.listing import PlaceError, Segment, list_segments
from ..segments.outcomes import Outcomes
from ..segments.wanted import Wanted
from .layout import Now, PartitionNow, within
from .offsets import DataLoss, Positions
from .options import ReadOptions
from .topics import TopicPartition


@dataclass(frozen=True)
class Piece:
    """A range of offsets of one segment; `wanted` tells which, and which columns."""

    segment: Segment
    wanted: Wanted
    outcomes: Outcomes | None
    fail_on_data_loss: bool
    kept: RequiredOffsets | None = None
    """Which offsets there must be; None if some may have been compacted away."""
    skip_damage: bool = False
    damage_report: str | None = None
    of_batches: bool = False

    @property
    def start(self) -> int:
        return self.wanted.start_offset or 0

    @property
    def end(self) -> int:
        """The offset after the last one."""
        assert self.wanted.end_offset is not None
        return self.wanted.end_offset

    def read(self) -> Iterator[pa.RecordBatch]:
        """Yield its rows. Raises Damaged, DataLoss, OSError."""
        left_out: list[Damaged] = []
        on_damage = left_out.append if self.skip_damage else None
        kept = self.kept if self.fail_on_data_loss or self.skip_damage else None
        batches = self._rows(self.segment, on_damage, kept)
        try:
            first = next(batches, None)
        except FileNotFoundError:
            yield from self._read_elsewhere()
            return
        if first is not None:
            yield first
            yield from batches
        if left_out and self.damage_report is not None:
            self._report(left_out, self.damage_report)

    def _rows(
        self,
        segment: Segment,
        on_damage: OnDamage | None = None,
        kept: RequiredOffsets | None = None,
    ) -> Iterator[pa.RecordBatch]:
        asked = segment, self.wanted, self.outcomes
        if self.of_batches:
            return read_batches(*asked, on_damage=on_damage)
        return read_segment(*asked, on_damage=on_damage, kept=kept)

    def _report(self, left_out: list[Damaged], folder: str) -> None:
        """Write what was left out. The name is the same if a task is tried again."""
        os.makedirs(folder, exist_ok=True)
        name = f"{self.segment.topic}-{self.segment.partition}-{self.start:020d}.json"
        with open(os.path.join(folder, name), "w") as file:
            json.dump([vars(each) for each in left_out], file)

    def _read_elsewhere(self) -> Iterator[pa.RecordBatch]:
        try:
            segments = list_segments(self.segment.directory)
        except PlaceError:
            segments = []
        found = max(segments[0].base_offset, segments[0].log_start) if segments else self.end
        if found > self.start and self.fail_on_data_loss:
            where = f"{self.segment.topic}-{self.segment.partition}"
            raise DataLoss(
                _lost(where, f"offsets {self.start} to {min(found, self.end) - 1} are gone")
            )
        for segment in segments:
            if segment.base_offset < self.end and (segment.next_base or self.end) > self.start:
                yield from self._rows(segment)


def pieces(
    now: Now,
    starts: Positions,
    ends: Positions,
    wanted: Wanted,
    options: ReadOptions,
    kept: KeptOffsets | None = None,
) -> list[Piece]:
    """The pieces of these ranges, one a segment, or more of them to make `minPartitions`. `kept`:
    which offsets there must be; without it none is missed.

    Raises DataLoss for what is not there any more, if the options say so.
    """
    found: list[Piece] = []
    for topic, partition, end in lost_partitions(data_directory_of(options.path)):
        there = now.get((topic, partition))
        if there is not None and not there.segments:
            what = f"the partition is gone, with offsets 0 to {end - 1}"
            _report((topic, partition), what, options)
    for key, end in ends.items():
        there = now.get(key)
        if there is None:
            _report(key, "the partition is gone", options)
        elif key in starts:
            last = kept.of(there.segments[-1]) if kept and there.segments else None
            if last is not None and last.end and last.missing(there.log_end, last.end):
                what = f"the log ends at {there.log_end}, and had offsets up to {last.end - 1}"
                _report(key, what, options)
            if there.segments and there.segments[0].log_start > there.log_end:
                _report(key, past_end(there.segments[0].log_start, there.log_end), options)
            start, end = _checked(key, there, starts[key], end, options)
            found += _of_partition(there, start, end, wanted, options, kept)
    return _split(found, options.partitions_min)


def _of_partition(
    there: PartitionNow,
    start: int,
    end: int,
    wanted: Wanted,
    options: ReadOptions,
    kept: KeptOffsets | None,
) -> Iterator[Piece]:
    for segment in there.segments:
        first = max(start, segment.base_offset)
        last = end if segment.next_base is None else min(end, segment.next_base)
        if first < last:
            inner = replace(wanted, start_offset=first, end_offset=last)
            outcomes = within(there.outcomes, first, last)
            yield Piece(
                *(
                    segment,
                    inner,
                    outcomes,
                    options.fail_on_data_loss,
                    kept.of(segment) if kept else None,
                ),
                *(options.skip_damage, options.damage_report, options.of_batches),
            )


def _checked(
    key: TopicPartition, there: PartitionNow, start: int, end: int, options: ReadOptions
) -> tuple[int, int]:
    if start < there.start:
        _report(key, f"offset {start} is asked for, but the log begins at {there.start}", options)
    if max(start, end) > there.log_end:
        what = f"offset {max(start, end)} is asked for, but the log ends at {there.log_end}"
        _report(key, what, options)
    if end < start:
        _report(key, f"reading starts at {start} but ends at {end}", options)
    return max(start, there.start), min(end, there.end)


def _report(key: TopicPartition, what: str, options: ReadOptions) -> None:
    if options.fail_on_data_loss:
        raise DataLoss(_lost(f"{key[0]}-{key[1]}", what))


def _lost(where: str, what: str) -> str:
    return (
        f"{where}: {what}. Records were removed by retention, or the topic was created again; "
        "with failOnDataLoss=false what is left is read"
    )


def _split(found: list[Piece], least: int) -> list[Piece]:
    total = sum(piece.end - piece.start for piece in found)
    if len(found) >= least or not total:
        return found
    return [part for piece in found for part in _parts(piece, least / total)]


def _parts(piece: Piece, share: float) -> Iterable[Piece]:
    size = piece.end - piece.start
    count = min(size, ceil(size * share))
    edges = [piece.start + size * each // count for each in range(count + 1)]
    for start, end in pairwise(edges):
        inner = replace(piece.wanted, start_offset=start, end_offset=end)
        yield replace(piece, wanted=inner, outcomes=within(piece.outcomes, start, end))
