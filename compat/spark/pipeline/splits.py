"""Splits: the pieces into which a place is cut, one task each.

A split is a frozen dataclass of plain values: it is pickled to where its task runs, and written
into the state file of a command that can be resumed (state.py). `read` gives its records in order.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

import pyarrow as pa

from ..segments.decoder import OnDamage, read_segment
from ..segments.kept import RequiredOffsets
from ..segments.listing import PlaceError, Segment
from ..segments.outcomes import Outcomes
from ..segments.wanted import Wanted

Bounds = tuple[int | None, int | None]
"""First offset, and the one after the last; None where there is no bound."""


class Split(Protocol):
    @property
    def name(self) -> str:
        """The name for people."""

    @property
    def size(self) -> int:
        """About how many bytes it has."""

    def read(self, wanted: Wanted) -> Iterator[pa.RecordBatch]:
        """Its records: the `wanted.columns` of segments/schema.py."""


@dataclass(frozen=True)
class Offsets:
    """From where to where each partition is read: whole, without arguments.

    `start` and `end` are for all partitions; `starts` and `ends` for those named, as (topic,
    partition). None and -2 are the partition's beginning, -1 its end, as in Spark's JSON.
    """

    start: int | None = None
    end: int | None = None
    starts: Mapping[tuple[str, int], int] = field(default_factory=dict)
    ends: Mapping[tuple[str, int], int] = field(default_factory=dict)

    def check(self, partitions: Container[tuple[str, int]], place: str) -> None:
        """Raises PlaceError for a partition that the place does not have."""
        for topic, index in sorted({*self.starts, *self.ends}):
            if (topic, index) not in partitions:
                raise PlaceError(f"{place} has no partition {topic}-{index}")

    def of(self, topic: str, partition: int, first: int, after: int) -> tuple[int, int]:
        """The offsets to read of a partition that holds those from `first` to before `after`."""
        start = self.starts.get((topic, partition), self.start)
        end = self.ends.get((topic, partition), self.end)
        named = {-2: first, -1: after}
        low = first if start is None else named.get(start, start)
        high = after if end is None else named.get(end, end)
        return max(low, first), min(high, after)


def narrowed(wanted: Wanted, start: int | None, end: int | None) -> Wanted:
    starts = [each for each in (wanted.start_offset, start) if each is not None]
    ends = [each for each in (wanted.end_offset, end) if each is not None]
    return replace(
        wanted,
        start_offset=max(starts) if starts else None,
        end_offset=min(ends) if ends else None,
    )


@dataclass(frozen=True)
class SegmentSplit:
    """One segment of a partition in a data directory."""

    segment: Segment
    start: int | None = None
    end: int | None = None
    outcomes: Outcomes | None = None
    """Of the partition's transactions: places.py finds them out once for all of its segments."""
    kept: RequiredOffsets | None = None
    """Which offsets there must be; None if some may have been compacted away."""

    @property
    def name(self) -> str:
        return self.segment.path

    @property
    def size(self) -> int:
        return self.segment.size

    def read(self, wanted: Wanted, on_damage: OnDamage | None = None) -> Iterator[pa.RecordBatch]:
        asked = narrowed(wanted, self.start, self.end)
        yield from read_segment(
            self.segment, asked, self.outcomes, on_damage=on_damage, kept=self.kept
        )
